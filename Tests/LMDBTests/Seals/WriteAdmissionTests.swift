import Foundation
import Testing

@testable import LMDB

/// A write meets no page that was not looked at: damage is an error before LMDB writes, and other tables can be written.
@Suite struct WriteAdmissionTests {
    private static let pageSize = 4096
    private static let count: UInt64 = 6000

    /// A store with two tables, the first of several levels, and its file's bytes.
    private func filled() throws -> (TemporaryStore, [UInt8]) {
        let store = TemporaryStore()
        let environment = try store.open()
        let tables = try environment.openTables(["t", "u"])
        try environment.write { transaction in
            for key in 0..<Self.count {
                try transaction.put(tables[0], key, [UInt8](repeating: UInt8(key % 251), count: 100))
            }
            try transaction.put(tables[1], 1, [1])
        }
        // Leaves free pages behind.
        try environment.write { transaction in
            for key in 0..<Self.count where key % 3 == 0 { try transaction.put(tables[0], key, [1, 2, 3]) }
        }
        try environment.close()
        return (store, [UInt8](try store.dataBytes()))
    }

    private func damaged(_ bytes: [UInt8]) throws -> TemporaryStore {
        let store = TemporaryStore()
        mkdir(store.path, 0o700)
        try Data(bytes).write(to: URL(fileURLWithPath: store.dataPath))
        chmod(store.dataPath, 0o600)
        return store
    }

    /// The pages of a kind that say they have their own number; old ones that no tree leads to are among them.
    private func pages(_ bytes: [UInt8], flags: UInt8) -> [Int] {
        (2..<bytes.count / Self.pageSize).filter { page in
            let start = page * Self.pageSize
            let number = bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            return bytes[start + 10] == flags && number == page
        }
    }

    /// Whatever is done to a page, reads and writes of all keys end with an error or as they should.
    private func useEverything(_ store: TemporaryStore) {
        do {
            let environment = try store.open()
            defer { try? environment.close() }
            let tables = try environment.openTables(["t", "u"])
            for key in stride(from: 0, to: Self.count, by: 7) {
                _ = try? environment.read { try $0.bytes(tables[0], key) }
            }
            for step in 1...3 as ClosedRange<UInt64> {
                _ = try? environment.write { transaction in
                    for key in stride(from: step, to: Self.count, by: 5) { try transaction.put(tables[0], key, [9]) }
                }
                _ = try? environment.write { transaction in
                    for key in step * 1000..<step * 1000 + 900 { _ = try transaction.delete(tables[0], key) }
                }
                _ = try? environment.write { transaction in
                    try transaction.withWriteCursor(tables[0]) { cursor in
                        while try cursor.next() {
                            if cursor.key.last.map({ $0 % 2 == 0 }) ?? false { try cursor.delete() }
                        }
                    }
                }
            }
        } catch {}
    }

    @Test(arguments: 0..<4) func damagedPagesEndNoProcess(kind: Int) throws {
        let (_, sound) = try filled()
        var random = SplitMix(state: UInt64(kind) + 1)
        let used = pages(sound, flags: 1) + pages(sound, flags: 2)
        for page in used.shuffled(using: &random).prefix(8) + pages(sound, flags: 1) {
            var bytes = sound
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            switch kind {
            case 0: bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: Self.pageSize))
            case 1: for index in range { bytes[index] = UInt8.random(in: 0 ... .max, using: &random) }
            case 2:
                let other = used.randomElement(using: &random) ?? page
                bytes.replaceSubrange(range, with: sound[other * Self.pageSize..<(other + 1) * Self.pageSize])
                // With the right number, as an older version of the page has it.
                bytes.replaceSubrange(range.lowerBound..<range.lowerBound + 8, with: sound[range.prefix(8)])
            default:
                for _ in 0..<3 {
                    let bit = UInt8.random(in: 0..<8, using: &random)
                    bytes[range.lowerBound + Int.random(in: 0..<300, using: &random)] ^= 1 << bit
                }
            }
            useEverything(try damaged(bytes))
        }
    }

    /// A damaged leaf is an error of the write that needs it, and of that alone.
    @Test func otherPagesCanBeWritten() throws {
        let (store, sound) = try filled()
        var found = 0
        for page in pages(sound, flags: 2) where found == 0 {
            // In the file itself, whose other pages keep their sums.
            let file = try #require(FileHandle(forUpdatingAtPath: store.dataPath))
            defer { try? file.close() }
            try write(Array(repeating: 0, count: Self.pageSize), at: page * Self.pageSize, file)
            defer {
                let range = page * Self.pageSize..<(page + 1) * Self.pageSize
                try? write(Array(sound[range]), at: range.lowerBound, file)
            }
            guard let environment = try? store.open(), let tables = try? environment.openTables(["t", "u"]) else {
                continue
            }
            defer { try? environment.close() }
            let lost = (0..<Self.count).first { key in
                code { try environment.read { try $0.bytes(tables[0], key) } } == .corrupted
            }
            guard let lost else { continue }
            found += 1
            #expect(code { try environment.write { try $0.put(tables[0], lost, [5]) } } == .corrupted)
            #expect(code { try environment.write { _ = try $0.delete(tables[0], lost) } } == .corrupted)
            try environment.write { try $0.put(tables[1], 2, [6]) }
            #expect(try environment.read { try $0.bytes(tables[1], 2) } == [6])
            let message = #expect(throws: LMDBError.self) { try environment.read { try $0.bytes(tables[0], lost) } }
            #expect(message?.detail.contains("page \(page): ") == true)
        }
        #expect(found == 1)
    }

    /// The record of a table is under another name.
    @Test func aDamagedTableOfTablesIsAnErrorOfOpening() throws {
        let (store, sound) = try filled()
        let metas = [0, Self.pageSize].map { start in
            sound.withUnsafeBytes { MetaPage(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        }
        let newest = try #require(metas.max { $0.transaction < $1.transaction })
        let start = Int(newest.main.root) * Self.pageSize
        let key = try sound.withUnsafeBytes { bytes in
            let page = try #require(
                Page(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.pageSize]), .leaf))
            return start + (try #require(page.entry(0))).keyOffset
        }
        #expect(sound[key] == UInt8(ascii: "t"))
        let file = try #require(FileHandle(forUpdatingAtPath: store.dataPath))
        try write([UInt8(ascii: "s")], at: key, file)
        try file.close()
        let environment = try store.open { $0.access = .readOnly }
        defer { try? environment.close() }
        #expect(code { _ = try environment.openTables(["t"]) } == .corrupted)
    }

    /// A number in a free list that is no page of the file, that comes twice, or that is a meta page.
    @Test(arguments: [0, 1, UInt64.max, 1 << 40, 1_000_000]) func aDamagedFreeListIsAnErrorOfTheWriter(number: UInt64)
        throws
    {
        let (_, sound) = try filled()
        let metas = [0, Self.pageSize].map { start in
            sound.withUnsafeBytes { MetaPage(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        }
        let newest = try #require(metas.max { $0.transaction < $1.transaction })
        let start = Int(newest.free.root) * Self.pageSize
        let offset = try sound.withUnsafeBytes { bytes in
            let page = try #require(
                Page(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.pageSize]), .leaf))
            let entry = try #require(page.entry(0))
            let list =
                entry.hasLongValue
                ? Int(page.firstPage(ofLongValue: entry)) * Self.pageSize + Page.headerSize : start + entry.valueOffset
            // Behind the count: the highest number.
            return list + 8
        }
        var bytes = sound
        withUnsafeBytes(of: number) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
        let store = try damaged(bytes)
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["t", "u"])
        #expect(code { try environment.write { try $0.put(tables[1], 2, [6]) } } == .corrupted)
        #expect(try environment.read { try $0.bytes(tables[0], 1) } != nil)
    }

    /// A reader that stays open keeps all free lists. A writer looks at those that are new, and at all after an opening.
    @Test func aWriterLooksAtNewFreeLists() throws {
        let store = TemporaryStore()
        var environment = try store.open()
        defer { try? environment.close() }
        var table = try environment.openTables(["t"])[0]
        for key in 0..<20 as Range<UInt64> { try environment.write { try $0.put(table, key, [1]) } }
        let reader = try environment.beginRead()
        for key in 0..<2000 as Range<UInt64> { try environment.write { try $0.put(table, key % 20, [2]) } }
        let leaves = try environment.read { try $0.statistics(Table(handle: 0)).leafPageCount }
        #expect(leaves > 20)
        for key in 0..<20 as Range<UInt64> {
            try environment.write { transaction in
                let count = try #require(transaction.admission).freeListPageCount
                #expect((1...8).contains(count))
                try transaction.put(table, key, [3])
            }
        }
        environment.end(reader)
        try environment.close()
        environment = try store.open()
        table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            let count = try #require(transaction.admission).freeListPageCount
            #expect(count > leaves)
        }
    }

    /// A page that is damaged after it was looked at: LMDB's assertion is an error too, and the store can be written
    /// once the page is whole again.
    @Test func anAssertionOfLMDBIsAnError() throws {
        let (store, sound) = try filled()
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["t", "u"])
        let file = try #require(FileHandle(forUpdatingAtPath: store.dataPath))
        defer { try? file.close() }
        var failures = 0
        for page in pages(sound, flags: 1) {
            let transaction = try environment.beginWrite()
            // Admits every page of the table.
            for key in stride(from: 0, to: Self.count, by: 20) { _ = try transaction.bytes(tables[0], key) }
            let offset = page * Self.pageSize + 12
            // One entry only.
            try write([18, 0], at: offset, file)
            for key in stride(from: 0, to: Self.count, by: 500) {
                if code({ try transaction.put(tables[0], key, [1]) }) == .corrupted { failures += 1 }
            }
            try write(Array(sound[offset..<offset + 2]), at: offset, file)
            transaction.abort()
        }
        #expect(failures > 0)
        try environment.write { try $0.put(tables[0], 3, [7]) }
        #expect(try environment.read { try $0.bytes(tables[0], 3) } == [7])
    }

    private func write(_ bytes: [UInt8], at offset: Int, _ file: FileHandle) throws {
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
    }
}
