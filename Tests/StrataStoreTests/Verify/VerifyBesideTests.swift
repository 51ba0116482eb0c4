import Foundation
import LMDB
import Locking
import StrataModel
import Testing

@testable import StrataStore

/// Verifications and copies beside others that change the store: what they do is no damage.
@Suite struct VerifyBesideTests {
    private let folder: ErasureFolder

    init() throws { folder = try ErasureFolder() }

    private func fixture() throws -> StoreFixture {
        try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
    }

    private func reader() throws -> Store {
        var options = StoreOptions()
        options.isReadOnly = true
        return try Store.open(.directory(folder.store), model: nil, options: options)
    }

    /// The views are those of no state then, which is said and is no problem.
    @Test(arguments: [VerificationDepth.full, .quick])
    func aRebuildOfAnotherProcessIsNamed(depth: VerificationDepth) throws {
        let fixture = try fixture()
        defer { fixture.store.close() }
        _ = try fixture.insert("Person", ["code": .string("1")])
        let reader = try reader()
        defer { reader.close() }
        let file = fixture.store.file
        let head = try file.environment.read { try file.readHead($0) }
        try file.write { try file.writeMark(RebuildMark(head: head, applied: .zero), $0) }
        let error = #expect(throws: StrataError.self) { try reader.verify(depth) }
        #expect(error?.code == .persistentStoreTimeout && error?.message.contains("rebuilt") == true)
        try file.write { try file.writeHead(head, $0) }
        #expect(try reader.verify(depth).isSound)
    }

    /// The state that is verified names a large value whose file goes meanwhile.
    @Test func aFileThatATruncationRemovesIsNotMissed() throws {
        let fixture = try fixture()
        defer { fixture.store.close() }
        var lease: BlobLease? = try fixture.store.beginBlobLease()
        let values = (0..<2).map { Data(repeating: UInt8($0), count: 50_000) }
        let id = try fixture.insert(
            "Person", ["code": .string("1"), "picture": .blob(try fixture.store.stageBlob(values[0]))])
        try fixture.update(id, ["picture": .blob(try fixture.store.stageBlob(values[1]))])
        withExtendedLifetime(lease) {}
        lease = nil
        let reader = try reader()
        defer { reader.close() }
        let store = fixture.store
        let isTruncated = Locked(false)
        let report = try reader.verify { _ in
            guard !isTruncated.withLock({ $0 }) else { return }
            isTruncated.withLock { $0 = true }
            do {
                _ = try store.truncateHistory(through: store.head(), force: .holds, ErasureFixture.note())
                // The truncation sweeps on the writer's thread, which takes jobs in their order.
                _ = try store.sweepBlobs()
                try store.onWriter { #expect(store.blobs.usage.count == 1) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(isTruncated.withLock { $0 })
        #expect(report.isSound, "\(report)")
        // A file that is missing now is a problem.
        let path = try #require(
            FileManager.default.enumerator(
                at: folder.store.appending(component: "blobs"), includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL }.first { !$0.hasDirectoryPath })
        try FileManager.default.removeItem(at: path)
        #expect(try reader.verify().problems.map(\.kind) == [.blob])
    }

    /// Each replay begins with the history as it is then.
    @Test func aLogIsReplayedBesideTruncations() throws {
        let fixture = try fixture()
        defer { fixture.store.close() }
        let id = try fixture.insert("Person", ["code": .string("0")])
        for number in 1..<60 { try fixture.update(id, ["code": .string("\(number)")]) }
        let store = fixture.store
        let head = try store.head()
        let reader = try reader()
        defer { reader.close() }
        let isOver = Locked(false)
        let target = folder.url.appending(component: "copy.strata", directoryHint: .isDirectory)
        try BackgroundThread.run("trims") {
            defer { isOver.withLock { $0 = true } }
            for number in 2..<UInt64(60) {
                let end = try store.eventNumber(of: TransactionNumber(rawValue: number))
                _ = try store.truncateHistory(through: end, force: .holds, ErasureFixture.note())
                usleep(2000)
            }
        } beside: {
            while !isOver.withLock({ $0 }) {
                let report = try reader.replay(through: head, to: target)
                #expect(report.verification.isSound)
                try FileManager.default.removeItem(at: target)
            }
        }
    }
}
