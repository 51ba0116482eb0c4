import Foundation
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// A log that goes from one store to another, transaction by transaction.
@Suite struct LogFrameTests {
    /// Makes a copy of what a store has now, `count` transactions first and the rest by `receive`.
    private func replica(of store: Store, at url: URL, beginningWith count: Int = 1) throws -> Store {
        let first = try store.frames(
            after: .zero, through: TransactionNumber(rawValue: UInt64(count)), limitInBytes: .max)
        try Store.makeReplica(of: try store.logPosition(), at: url, beginningWith: first)
        return try Store.open(.directory(url), model: nil)
    }

    private func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let url = FileManager.default.temporaryDirectory.appending(component: "replica-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url)
    }

    @Test(arguments: RandomTesting.seeds)
    func aReplicaFollowsARandomLog(seed: UInt64) throws {
        try withFolder { url in
            var oracle = try StoreOracle(seed: seed)
            let store = oracle.fixture.store
            let copy = try replica(of: store, at: url)
            for _ in 0..<20 {
                for _ in 0..<Int.random(in: 1...6, using: &oracle.generator) { try oracle.step() }
                // From a little before the end of the copy: what it has is passed over.
                let known = try copy.logPosition().transaction.rawValue
                let from = TransactionNumber(
                    rawValue: known - UInt64.random(in: 0...min(known, 3), using: &oracle.generator))
                let frames = try store.frames(after: from, limitInBytes: .max)
                let shipped = try frames.map { try LogFrame($0.bytes) }
                try copy.receive(shipped)
                #expect(try copy.logPosition() == store.logPosition(), "seed \(seed)")
            }
            #expect(try copy.tags() == store.tags())
            #expect(try copy.verify().isSound, "seed \(seed)")
            copy.close()
        }
    }

    @Test func framesKeepToTheLimit() throws {
        let fixture = try StoreFixture()
        for number in 0..<20 { _ = try fixture.insert("Owner", ["name": .string("owner \(number)")]) }
        let one = try fixture.store.frames(after: .zero, limitInBytes: 1)
        #expect(one.map(\.record.number.rawValue) == [1])
        let some = try fixture.store.frames(after: .init(rawValue: 1), limitInBytes: 1000)
        #expect(1 < some.count && some.count < 20)
        #expect(try fixture.store.frames(after: .init(rawValue: 21), limitInBytes: 1000).isEmpty)
    }

    @Test func largeValuesTagsAndMetadataComeAlong() throws {
        let damaged = try DamagedStore()
        try damaged.store.setTag("first", at: try damaged.store.head(), MaintenanceNote(author: "tests"))
        try damaged.store.changeMetadata(MaintenanceNote(author: "tests")) { $0["city"] = .string("Bergen") }
        try withFolder { url in
            let copy = try replica(of: damaged.store, at: url)
            let frames = try damaged.store.frames(after: .init(rawValue: 1), limitInBytes: .max)
            #expect(frames.flatMap(\.blobDigests) == [damaged.blob.digest])
            let store = damaged.store
            try copy.receive(frames) { store.blob(digest: $0) }
            #expect(try copy.blob(damaged.blob).count == 100_000)
            #expect(try copy.tags() == store.tags())
            #expect(try copy.metadata() == ["city": .string("Bergen")])
            #expect(try copy.verify().isSound)
            copy.close()
        }
    }

    @Test func anotherHistoryIsRefusedAndChangesNothing() throws {
        let mine = try StoreFixture()
        _ = try mine.insert("Owner", ["name": .string("Ann")])
        try withFolder { url in
            let copy = try replica(of: mine.store, at: url, beginningWith: 2)
            _ = try mine.insert("Owner", ["name": .string("Ben")])
            let here = try StoreFixture()
            _ = try here.insert("Owner", ["name": .string("Cid")])
            _ = try here.insert("Owner", ["name": .string("Dan")])
            let before = try copy.logPosition()
            for after in [UInt64(0), 1, 2] {
                let frames = try here.store.frames(after: .init(rawValue: after), limitInBytes: .max)
                let error = #expect(throws: StrataError.self) { try copy.receive(frames) }
                #expect(error?.code == .divergedLog)
            }
            // A frame is missing before this one.
            _ = try mine.insert("Owner", ["name": .string("Eva")])
            let late = try mine.store.frames(after: .init(rawValue: 3), limitInBytes: .max)
            #expect(throws: StrataError.self) { try copy.receive(late) }
            #expect(try copy.logPosition() == before)
            try copy.receive(try mine.store.frames(after: .init(rawValue: 2), limitInBytes: .max))
            #expect(try copy.logPosition() == mine.store.logPosition())
            copy.close()
        }
    }

    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aDamagedFrameIsAnError(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixture = try StoreFixture()
        _ = try fixture.insert("Movie", ["title": .string("Alien"), "rating": .double(4)])
        let frames = try fixture.store.frames(after: .zero, limitInBytes: .max)
        let before = frames[0].record.digest
        let sound = frames[1].bytes
        for _ in 0..<400 {
            var bytes = sound
            if Bool.random(using: &generator) {
                bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))
            } else {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
            }
            // The number alone has no checksum; the log that the frame goes to checks it.
            guard let frame = try? LogFrame(bytes) else { continue }
            #expect(!frame.verifies(after: before) || frame.record.number != frames[1].record.number)
        }
        #expect(frames[1].verifies(after: before))
    }

    @Test(arguments: [false, true])
    func migrationsAndTheFirstViewComeAlong(isText: Bool) throws {
        try withFolder { origin in
            let model =
                isText ? try TextOracle.model([]) : try ManagedObjectModel(entities: FilmViews.entities())
            let first = try StoreFixture(.directory(origin), model: model)
            if isText { _ = try first.insert("Film", ["plot": .string("the zone")]) }
            try withFolder { url in
                let copy = try replica(of: first.store, at: url)
                first.store.close()
                let next = isText ? try TextOracle.model() : try FilmViews.model()
                let second = try StoreFixture(.directory(origin), model: next)
                let frames = try second.store.frames(after: try copy.logPosition().transaction, limitInBytes: .max)
                try copy.receive(frames)
                #expect(try copy.logPosition() == second.store.logPosition())
                #expect(copy.schema.model.views.map(\.name) == second.schema.model.views.map(\.name))
                #expect((copy.file.tables.views?.texts != nil) == isText)
                #expect(try copy.verify().isSound)
                copy.close()
                let again = try Store.open(.directory(url), model: nil)
                #expect(try (again.file.tables.views?.texts != nil) == isText && again.verify().isSound)
                again.close()
                second.store.close()
            }
            try withFolder { url in
                let store = try Store.open(.directory(origin), model: nil)
                let copy = try replica(of: store, at: url, beginningWith: 2)
                #expect(try copy.verify().isSound)
                copy.close()
                store.close()
            }
        }
    }
}
