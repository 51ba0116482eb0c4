import Foundation
import Testing

@testable import LMDB

/// Strata's own search, in the map and in copies of pages, finds the values that LMDB finds.
@Suite struct NumberSearchTests {
    private static let values = 3000

    private func filled(_ store: TemporaryStore, sparingReads: Int) throws -> (Environment, [Table]) {
        let environment = try store.open { $0.sparingReads = sparingReads }
        let tables = try environment.openTables(["other", "t", "empty", "text"])
        try environment.write { transaction in
            for number in (0..<UInt64(Self.values)).shuffled() {
                let size = number % 91 == 0 ? 5000 : Int(number * 7 % 250)
                try transaction.put(tables[1], number * 3, [UInt8](repeating: UInt8(number & 255), count: size))
                try transaction.put(tables[0], number * 3 + 1, [1, 2, 3])
            }
            try transaction.put(tables[3], [1, 2, 3], [4])
            try transaction.put(tables[3], [0, 0, 0, 0, 0, 0, 0, 7], [5])
        }
        return (environment, tables)
    }

    @Test(arguments: [0, Int.max]) func theyAreThoseThatLMDBFinds(sparingReads: Int) throws {
        let store = TemporaryStore()
        let (environment, tables) = try filled(store, sparingReads: sparingReads)
        defer { try? environment.close() }
        for _ in 0..<3 {
            try environment.read { transaction in
                for table in tables {
                    for key in 0..<UInt64(Self.values * 3 + 5) {
                        let expected = try transaction.get(table, key).map { Array($0) }
                        #expect(try transaction.find(table, key).map { Array($0) } == expected, "\(key)")
                    }
                }
            }
            // The next reader sees other trees.
            try environment.write { transaction in
                for number in 0..<UInt64(Self.values) where number % 5 == 0 {
                    _ = try transaction.delete(tables[1], number * 3)
                    try transaction.put(tables[2], number * 3, [9])
                }
            }
        }
    }

    /// Keys of every distribution: a guess that leads nowhere near costs time, not the result.
    @Test func unevenKeysAreFound() throws {
        let store = TemporaryStore()
        let environment = try store.open { $0.sparingReads = 0 }
        defer { try? environment.close() }
        let tables = try environment.openTables(["powers", "ends", "random"])
        let lists: [[UInt64]] = [
            (0..<64).flatMap { power in (0..<200).map { UInt64(1) &<< UInt64(power) &+ $0 } },
            (0..<3000).flatMap { [$0, .max - $0] },
            (0..<6000).map { $0 &* $0 &* $0 &* 0x9E37_79B9_7F4A_7C15 },
        ]
        try environment.write { transaction in
            for (table, keys) in zip(tables, lists) {
                for key in Set(keys).sorted() { try transaction.put(table, key, Array("\(key)".utf8)) }
            }
        }
        try environment.read { transaction in
            for (table, keys) in zip(tables, lists) {
                let present = Set(keys)
                for key in keys.flatMap({ [$0, $0 &- 1, $0 &+ 1] }) {
                    let found = try transaction.find(table, key).map { String(decoding: $0, as: UTF8.self) }
                    #expect(found == (present.contains(key) ? "\(key)" : nil))
                }
            }
        }
    }

    @Test func aWriterReadsWhatItHasWritten() throws {
        let store = TemporaryStore()
        let (environment, tables) = try filled(store, sparingReads: .max)
        defer { try? environment.close() }
        try environment.write { transaction in
            try transaction.put(tables[1], 3, [42])
            #expect(try transaction.find(tables[1], 3).map { Array($0) } == [42])
        }
        try environment.read { transaction throws in
            #expect(try transaction.find(tables[1], 3).map { Array($0) } == [42])
        }
    }

    @Test func asManyAsAreLookedUpTogetherStayValid() throws {
        let store = TemporaryStore()
        let (environment, tables) = try filled(store, sparingReads: .max)
        defer { try? environment.close() }
        try environment.read { transaction in
            let keys = (0..<UInt64(Cursor.lookupWidth)).map { $0 * 270 }
            let found = try keys.map { try transaction.find(tables[1], $0) }
            for (key, value) in zip(keys, found) {
                #expect(try transaction.get(tables[1], key).map { Array($0) } == value.map { Array($0) })
            }
        }
    }

    @Test(arguments: [0, 10, 1_000_000]) func manyAreFoundTogether(sparingReads: Int) throws {
        let store = TemporaryStore()
        let (environment, tables) = try filled(store, sparingReads: sparingReads)
        defer { try? environment.close() }
        try environment.read { transaction in
            try transaction.withCursor(tables[1]) { cursor in
                for start in stride(from: UInt64(0), to: 8900, by: 37) {
                    let keys = (0..<UInt64(Cursor.lookupWidth)).map { start &+ $0 &* $0 }
                    var found = [UnsafeRawBufferPointer](
                        repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: keys.count)
                    try keys.withUnsafeBufferPointer { keys in
                        try found.withUnsafeMutableBufferPointer { try cursor.values(of: keys, into: $0) }
                    }
                    for (key, value) in zip(keys, found) {
                        let expected = try transaction.get(tables[1], key).map { Array($0) }
                        #expect((value.baseAddress == nil ? nil : Array(value)) == expected, "\(key)")
                    }
                }
            }
        }
    }

    /// Of a file of 60 MB a hundred values are read; the map brings neighbours of pages with them.
    @Test func theyTakeLittleMemory() throws {
        #if os(Linux)
            let store = TemporaryStore()
            let environment = try store.open()
            let table = try environment.openTables(["t"])[0]
            let count: UInt64 = 30_000
            try environment.write { transaction in
                for key in 0..<count { try transaction.put(table, key, [UInt8](repeating: 1, count: 2000)) }
            }
            try environment.close()
            /// Kilobytes of the file that this process has mapped after a hundred values.
            func mapped(_ sparingReads: Int) throws -> Int {
                let environment = try store.open { $0.sparingReads = sparingReads }
                defer { try? environment.close() }
                let table = try environment.openTables(["t"])[0]
                try environment.read { transaction throws in
                    for number in 0..<UInt64(100) {
                        #expect(try transaction.find(table, number * (count / 100))?.count == 2000)
                    }
                }
                return try Self.residentKilobytes(of: store.dataPath)
            }
            let all = try mapped(0)
            let sparing = try mapped(1024)
            #expect(sparing < 1000 && sparing * 2 < all, "\(sparing) of \(all) kB")
        #endif
    }

    /// What /proc says of the file's maps.
    private static func residentKilobytes(of path: String) throws -> Int {
        var isFile = false
        var sum = 0
        let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        defer { try? maps.close() }
        let text = String(decoding: try #require(try maps.readToEnd()), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first?.contains("-") == true, words.first?.hasSuffix(":") == false {
                isFile = line.hasSuffix(path)
            }
            if isFile, words.first == "Rss:", words.count > 1 { sum += Int(words[1]) ?? 0 }
        }
        return sum
    }

    /// Every byte of the heads and first entries of all pages, changed one after the other: what is found lies in a page.
    @Test func damagedPagesAreLeftToLMDB() throws {
        let store = TemporaryStore()
        let (environment, tables) = try filled(store, sparingReads: 0)
        defer { try? environment.close() }
        let bytes = [UInt8](try store.dataBytes())
        let file = try #require(FileHandle(forUpdatingAtPath: store.dataPath))
        defer { try? file.close() }
        let transaction = try environment.beginRead()
        defer { environment.end(transaction) }
        let search = transaction.pages
        var outcomes: [String: Int] = [:]
        for page in 2..<bytes.count / 4096 where page % 3 == 0 {
            for place in [8, 10, 11, 12, 13, 16, 17, 18, 19, 4090] + (3960..<3980) {
                let offset = page * 4096 + place
                try Self.write(bytes[offset] ^ 0xFF, at: offset, file)
                for key in stride(from: UInt64(0), to: UInt64(Self.values * 3), by: 331) {
                    for isSparing in [false, true] {
                        let outcome = try search.find(key, in: tables[1], isSparing: isSparing)
                        outcomes[Self.name(outcome), default: 0] += 1
                    }
                }
                try Self.write(bytes[offset], at: offset, file)
            }
        }
        #expect(Set(outcomes.keys) == ["found", "absent", "unknown"], "\(outcomes)")
    }

    private static func write(_ byte: UInt8, at offset: Int, _ file: FileHandle) throws {
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte])
    }

    private static func name(_ outcome: SearchOutcome) -> String {
        switch outcome {
        // All its bytes are looked at.
        case .found(let value): value.count <= 4096 && value.reduce(0, { $0 | $1 }) >= 0 ? "found" : "too long"
        case .absent: "absent"
        case .unknown: "unknown"
        }
    }
}
