import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// A rebuild makes views new whatever has become of their pages, and drops nothing where more than views is damaged.
@Suite struct DamagedViewTests {
    private static let pageSize = 4096
    private let damaged: DamagedStore
    private let sound: Data
    private let sums: Data
    private let digests: [TableDigest]
    /// The pages of the views, and the others in use.
    private let pages: (views: [UInt64], others: [UInt64])

    init() throws {
        damaged = try DamagedStore()
        let fixture = damaged.fixture
        for round in 0..<12 {
            var changes = try fixture.changes()
            for number in 0..<40 {
                let title = "film \(round).\(number) \(String(repeating: "x", count: number * 4))"
                let values: [String: AttributeValue] = ["title": .string(title), "owner": .objectID(damaged.ann)]
                _ = try fixture.insert("Movie", values, into: &changes)
            }
            try fixture.save(changes)
        }
        digests = try damaged.store.verify().digests
        // Gives back the numbers of rows that were not used, which changes pages.
        damaged.store.close()
        sound = try Data(contentsOf: damaged.directory.appending(component: "data.mdb"))
        sums = try Data(contentsOf: damaged.directory.appending(component: "pages.sums"))
        let store = try Store.open(.directory(damaged.directory), model: nil)
        defer { store.close() }
        let tables = store.file.tables
        let transaction = try store.file.environment.beginWrite()
        defer { transaction.abort() }
        let views = try transaction.pagesOf(tables.viewTables.flatMap { $0.table.parts })
        pages = (views, Array(Set(try transaction.pagesOf(tables.all)).subtracting(views)).sorted())
    }

    private enum Kind: CaseIterable {
        case zeros, noise, flippedBit, anotherPage
    }

    private func damage(_ page: UInt64, _ kind: Kind, _ bytes: inout Data, _ random: inout SeededGenerator) {
        let start = Int(page) * Self.pageSize
        let other = Int(pages.views.randomElement(using: &random) ?? 2) * Self.pageSize
        switch kind {
        case .flippedBit:
            let offset = Int.random(in: 0..<Self.pageSize, using: &random)
            bytes[start + offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .zeros: bytes.replaceSubrange(start..<start + Self.pageSize, with: Data(count: Self.pageSize))
        case .noise:
            for offset in 0..<Self.pageSize { bytes[start + offset] = UInt8.random(in: 0 ... .max, using: &random) }
        case .anotherPage:
            bytes.replaceSubrange(start..<start + Self.pageSize, with: sound[other..<other + Self.pageSize])
            bytes[start] ^= 1
        }
    }

    /// Puts a damaged file in place and opens it.
    private func store(_ bytes: Data) throws -> Store {
        try bytes.write(to: damaged.directory.appending(component: "data.mdb"))
        try sums.write(to: damaged.directory.appending(component: "pages.sums"))
        return try Store.open(.directory(damaged.directory), model: nil)
    }

    @Test(arguments: RandomTesting.seeds.prefix(4)) func anyDamageOfViewsIsMadeRight(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for kind in Kind.allCases {
            for count in [1, 1, 4, pages.views.count] {
                var bytes = sound
                for page in pages.views.shuffled(using: &random).prefix(count) { damage(page, kind, &bytes, &random) }
                let store = try store(bytes)
                let inSteps = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 20_000)
                let limits = Bool.random(using: &random) ? RebuildLimits() : inSteps
                let report = try store.rebuild(limits)
                #expect(!report.isUnchanged || count == 1, "seed \(seed), \(kind), \(count)")
                let verification = try store.verify()
                #expect(verification.isSound, "seed \(seed), \(kind), \(count): \(verification.problems.prefix(3))")
                #expect(verification.digests == digests, "seed \(seed), \(kind), \(count)")
                store.close()
            }
        }
    }

    @Test(arguments: RandomTesting.seeds.prefix(4)) func nothingIsDroppedWhereMoreIsDamaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var refusals = 0
        for kind in Kind.allCases {
            for page in pages.others.shuffled(using: &random).prefix(6) {
                var bytes = sound
                damage(page, kind, &bytes, &random)
                do {
                    let store = try store(bytes)
                    defer { store.close() }
                    let error = #expect(throws: StrataError.self) { try store.rebuild() }
                    #expect(error?.code == .corrupt, "\(error as Any)")
                    #expect(error?.message.contains("nothing was dropped") == true, "\(error as Any)")
                    refusals += 1
                } catch let error as StrataError {
                    // The page is needed to open the store.
                    #expect(error.code == .corrupt, "\(error)")
                }
                #expect(try Data(contentsOf: damaged.directory.appending(component: "data.mdb")) == bytes)
            }
        }
        #expect(refusals > 0)
    }

    /// A page of half-made views is damaged before the rebuild goes on.
    @Test func aRebuildBeginsAnewWhereWhatItHasMadeIsDamaged() throws {
        let half = try store(sound)
        let file = half.file
        let objects = try file.write { transaction in
            try transaction.drop(file.tables.viewTables.flatMap { $0.table.parts })
            let head = try file.readHead(transaction)
            let replay = Replay(after: .start, file.tables, flushLimit: 1000)
            try file.environment.read { committed in
                var counter = ProgressCounter("", total: 0, nil)
                let log = LogReader(committed, file.tables, SchemaHistory([]))
                _ = try replay.run(log, through: head.event, limit: 60_000, into: transaction, &counter)
            }
            #expect(replay.applied > .zero && replay.applied < head.event)
            try file.writeMark(RebuildMark(head: head, applied: replay.applied), transaction)
            return file.tables.objects
        }
        let transaction = try file.environment.beginWrite()
        let made = try transaction.pagesOf([objects])
        transaction.abort()
        half.close()
        var bytes = try Data(contentsOf: damaged.directory.appending(component: "data.mdb"))
        for page in made {
            let start = Int(page) * Self.pageSize
            bytes.replaceSubrange(start..<start + Self.pageSize, with: Data(count: Self.pageSize))
        }
        try bytes.write(to: damaged.directory.appending(component: "data.mdb"))
        let store = try Store.open(.directory(damaged.directory), model: nil)
        defer { store.close() }
        let verification = try store.verify()
        #expect(verification.isSound && verification.digests == digests, "\(verification.problems.prefix(3))")
    }
}
