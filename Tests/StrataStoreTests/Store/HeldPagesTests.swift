import Foundation
import StrataModel
import StrataTestSupport
import Synchronization
import Testing

@testable import LMDB
@testable import StrataStore

/// The length of the file of a store whose commits are not synced one by one.
@Suite struct HeldPagesTests {
    /// Freed pages are used again after a checkpoint, so a busy writer has one made before the time for it has come.
    @Test(arguments: [StoreDurability.journaled, .checkpointed]) func manyCommitsBetweenTwoCheckpoints(
        durability: StoreDurability
    ) throws {
        let folder = try ErasureFolder()
        var options = StoreOptions()
        options.durability = durability
        options.checkpointInterval = .seconds(3600)
        let fixture = try StoreFixture(.directory(folder.store), options: options)
        defer { fixture.store.close() }
        let id = try fixture.insert("Movie", ["title": .string("Stalker")])
        let environment = fixture.store.file.environment
        let most = 4096
        environment.heldPages.most.store(most, ordering: .relaxed)
        var (written, count) = (0, 0)
        while written < 6 * most {
            let held = environment.heldPages.count.load(ordering: .relaxed)
            count += 1
            try fixture.update(id, ["rating": .double(Double(count))])
            // A checkpoint may have come in between.
            written += max(0, environment.heldPages.count.load(ordering: .relaxed) - held)
        }
        let size = try FileManager.default.attributesOfItem(atPath: folder.store.path + "/data.mdb")[.size] as? Int
        #expect(try #require(size) < 4 * most * 4096)
        #expect(try fixture.store.verify(.full).isSound)
    }
}
