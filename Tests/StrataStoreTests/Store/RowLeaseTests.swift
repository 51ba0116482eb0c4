import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Row numbers that a store has leased and not used go back when it is closed; none is ever given twice.
@Suite struct RowLeaseTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(component: "lease-\(UUID().uuidString).strata")

    private func open(leaseSize: UInt64? = nil) throws -> Store {
        var options = StoreOptions()
        if let leaseSize { options.rowLeaseSize = leaseSize }
        return try Store.open(.directory(directory), model: try MovieModel.make(), options: options)
    }

    private func rows(_ count: Int, of store: Store) throws -> [UInt64] {
        let movie = try #require(store.schema.entity(named: "Movie")).id
        return try (0..<count).map { _ in try store.newObjectID(in: movie).row }
    }

    @Test func numbersGoOnWhereTheLastProcessEnded() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        for start in [1, 4, 7] as [UInt64] {
            let store = try open()
            #expect(try rows(3, of: store) == Array(start..<start + 3))
            store.close()
            #expect(throws: StrataError.self) { try rows(1, of: store) }
        }
    }

    @Test func aStoreThatIsNotClosedLosesOnlyASmallBlock() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let lost = try open()
        defer { lost.close() }
        #expect(try rows(1, of: lost) == [1])
        let next = try open()
        defer { next.close() }
        let first = try #require(try rows(1, of: next).first)
        #expect(first > 1 && first <= 65)
    }

    /// The blocks grow, so that a large import does not wait for them.
    @Test func blocksGrowWithTheWork() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        #expect(try rows(64 + 512, of: store) == Array(1...64 + 512))
        let more = try rows(5000, of: store)
        #expect(Set(more).count == 5000 && more.min() == 64 + 512 + 1 && more.max() ?? 0 < 64 + 512 + 4096 + 65536)
    }

    /// Stores of the same directory that come and go at random, each with leases of its own.
    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2, 3]))
    func noNumberIsGivenTwice(seed: UInt64) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var random = SeededGenerator(seed: seed)
        var stores: [Store] = []
        var given: Set<UInt64> = []
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where stores.count < 4: stores.append(try open(leaseSize: UInt64.random(in: 2...9, using: &random)))
            case 1 where !stores.isEmpty:
                stores.remove(at: Int.random(in: stores.indices, using: &random)).close()
            default:
                guard let store = stores.randomElement(using: &random) else { continue }
                for row in try rows(Int.random(in: 1...20, using: &random), of: store) {
                    #expect(given.insert(row).inserted, "\(row)")
                }
            }
        }
        for store in stores { store.close() }
        let last = try open()
        defer { last.close() }
        #expect(try rows(1, of: last)[0] > given.max() ?? 0)
    }
}
