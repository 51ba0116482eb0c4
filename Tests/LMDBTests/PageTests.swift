import Foundation
import Testing

@testable import LMDB

/// Pages of real files and of random bytes, read through `Page`.
@Suite struct PageTests {
    private static let size = 4096

    /// A page of memory between two that cannot be read, so that a read outside it ends the process.
    private final class GuardedMemory {
        private let start: UnsafeMutableRawPointer
        let page: UnsafeMutableRawBufferPointer

        init() throws {
            let mapped = mmap(nil, 3 * PageTests.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
            start = try #require(mapped == MAP_FAILED ? nil : mapped)
            page = UnsafeMutableRawBufferPointer(start: start + PageTests.size, count: PageTests.size)
            mprotect(start, PageTests.size, PROT_NONE)
            mprotect(start + 2 * PageTests.size, PageTests.size, PROT_NONE)
        }

        deinit { munmap(start, 3 * PageTests.size) }
    }

    /// The branch and leaf pages of a file with long values and keys of all lengths, by their numbers.
    private func pages() throws -> [(number: UInt64, bytes: [UInt8])] {
        let store = TemporaryStore()
        let environment = try store.open()
        let tables = try environment.openTables(["numbers", "texts"])
        try environment.write { transaction in
            for number in 0..<3000 as Range<UInt64> {
                let size = number % 91 == 0 ? 5000 : Int(number * 7 % 250)
                try transaction.put(tables[0], number, [UInt8](repeating: UInt8(number & 255), count: size))
                let key = (0..<1 + Int(number % 37)).map { UInt8(truncatingIfNeeded: number &>> ($0 % 3 * 8)) }
                try transaction.put(tables[1], key, [1, 2, 3])
            }
        }
        try environment.close()
        let bytes = [UInt8](try store.dataBytes())
        return (2..<bytes.count / Self.size).map { number in
            (UInt64(number), Array(bytes[number * Self.size..<(number + 1) * Self.size]))
        }.filter { number, bytes in
            bytes.withUnsafeBytes {
                Page.number(of: $0) == number && [.branch, .leaf].contains(Page.kind(of: $0))
            }
        }
    }

    /// Goes through everything that a page says of itself.
    private func readAll(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Int {
        var sum = 0
        for kind in [Page.Kind.branch, .leaf] {
            if let page = try? Page(checking: bytes, number: number, as: kind) { sum += page.count }
            guard let page = Page(bytes, kind) else { continue }
            for index in 0..<page.count {
                sum += page.key(index)?.reduce(0) { $0 &+ Int($1) } ?? 0
                if let record = page.record(index) { sum &+= record.value.reduce(0) { $0 &+ Int($1) } }
                sum &+= Int(page.child(index) ?? 0)
                sum &+= Int(truncatingIfNeeded: page.number(at: page.offset(of: index)) ?? 0)
            }
            for key in [0, 1, 2999, UInt64.max] {
                var search = InterpolationSearch(key)
                if let rank = page.rank(&search, kind), kind == .leaf,
                    case .found(let value) = page.outcome(at: rank, search)
                {
                    sum += value.count
                }
            }
        }
        return sum
    }

    @Test func soundPagesPassTheCheck() throws {
        let pages = try pages()
        #expect(pages.count > 100)
        for (number, bytes) in pages {
            bytes.withUnsafeBytes { bytes in
                #expect(throws: Never.self) {
                    let page = try Page(checking: bytes, number: number, as: Page.kind(of: bytes))
                    #expect(page.count > 0)
                }
                let other: Page.Kind = Page.kind(of: bytes) == .leaf ? .branch : .leaf
                #expect(throws: PageDamage.self) { _ = try Page(checking: bytes, number: number, as: other) }
                #expect(throws: PageDamage.self) {
                    _ = try Page(checking: bytes, number: number + 1, as: Page.kind(of: bytes))
                }
            }
        }
    }

    @Test func everyDamagedHeadIsFound() throws {
        let (number, sound) = try #require(try pages().last)
        // The number, the kind, and the bounds of the list of entries.
        for offset in [0, 7, 10, 12, 15] {
            var bytes = sound
            bytes[offset] ^= 0x83
            _ = bytes.withUnsafeBytes { bytes in
                #expect(throws: PageDamage.self, "\(offset)") {
                    _ = try Page(checking: bytes, number: number, as: sound.withUnsafeBytes(Page.kind(of:)))
                }
            }
        }
    }

    /// Whatever the bytes are, nothing outside the page is read.
    @Test func damagedPagesAreNotReadOutside() throws {
        let memory = try GuardedMemory()
        var random = SystemRandomNumberGenerator()
        var sum = 0
        for (number, sound) in try pages() {
            for round in 0..<40 {
                memory.page.copyBytes(from: sound)
                // A few bytes anywhere, in the list of entries, and in the heads of entries.
                for _ in 0...round % 5 {
                    memory.page[Int.random(in: 0..<Self.size, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                    memory.page[Int.random(in: 8..<200, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                sum &+= readAll(UnsafeRawBufferPointer(memory.page), number)
            }
        }
        for _ in 0..<2000 {
            for index in memory.page.indices { memory.page[index] = UInt8.random(in: 0...255, using: &random) }
            // Mostly a list of entries that lies in the page.
            memory.page[10] = Bool.random(using: &random) ? 1 : 2
            memory.page[11] = 0
            memory.page[13] &= 0x0F
            sum &+= readAll(UnsafeRawBufferPointer(memory.page), 0)
        }
        #expect(sum != 0)
    }
}
