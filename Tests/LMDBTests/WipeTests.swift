import Foundation
import Locking
import Synchronization
import Testing

@testable import LMDB

/// A wipe leaves no byte of what was deleted, and every byte of what is there.
@Suite struct WipeTests {
    private let store = TemporaryStore()

    private func put(_ key: String, _ value: String, _ table: Table, _ transaction: WriteTransaction) throws {
        try Array(key.utf8).withUnsafeBytes { key in
            try Array(value.utf8).withUnsafeBytes { try transaction.put(table, key, $0) }
        }
    }

    private func delete(_ key: String, _ table: Table, _ transaction: WriteTransaction) throws {
        _ = try Array(key.utf8).withUnsafeBytes { try transaction.delete(table, $0) }
    }

    private func records(_ table: Table, _ environment: Environment) throws -> [String] {
        var found: [String] = []
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor in
                while try cursor.next() {
                    found.append(String(decoding: cursor.key, as: UTF8.self))
                }
            }
        }
        return found
    }

    private func occurrences(of text: String) throws -> Int {
        let data = try store.dataBytes()
        var count = 0
        var rest = data.startIndex..<data.endIndex
        while let hit = data.range(of: Data(text.utf8), in: rest) {
            count += 1
            rest = hit.upperBound..<data.endIndex
        }
        return count
    }

    /// Secret keys among others, so that they become borders of pages, with short and long values.
    private func fill(_ environment: Environment, _ table: Table) throws {
        for round in 0..<8 {
            try environment.write { transaction in
                for number in 0..<400 {
                    let letter = Character(Unicode.Scalar(UInt8(97 + (number * 7 + round) % 26)))
                    let tail = String(repeating: "x", count: 20 + number % 90)
                    let size = number % 50 == 0 ? 600 : 2
                    let name = number % 3 == 0 ? "Secret" : "Public"
                    try put(
                        "\(letter)\(name)\(number)-\(round)\(tail)", String(repeating: name, count: size), table,
                        transaction)
                }
            }
        }
    }

    @Test func aWipeLeavesNoByteOfWhatWasDeleted() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table)
        let all = try records(table, environment)
        for part in 0..<5 {
            try environment.write { transaction in
                for (index, key) in all.enumerated() where key.contains("Secret") && index % 5 == part {
                    try delete(key, table, transaction)
                }
            }
        }
        let kept = all.filter { !$0.contains("Secret") }
        #expect(try records(table, environment) == kept)
        #expect(try occurrences(of: "Secret") > 100)
        let sealCount = environment.wholeSealCount
        let report = try environment.wipe()
        #expect(report.changedPageCount > 0 && report.freePageCount > 0 && report.waitingPageCount == 0)
        #expect(try occurrences(of: "Secret") == 0)
        #expect(try records(table, environment) == kept)
        #expect(try environment.surveyPages().problems == [])
        #expect(try environment.checkPages().isSound)
        // What was wiped needs no second wipe, and no sum of the whole file.
        let again = try environment.wipe()
        #expect(again.changedPageCount == 0 && again.freePageCount == 0)
        #expect(environment.wholeSealCount == sealCount)
        // The next commits bring nothing back.
        try environment.write { try put("zPublic", "Public", table, $0) }
        try environment.write { try put("aPublic", "Public", table, $0) }
        #expect(try occurrences(of: "Secret") == 0)
        #expect(try environment.surveyPages().problems == [])
    }

    @Test func aProcessForgetsItsPagesAfterAnotherHasWiped() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table)
        // As another process counts it.
        environment.sums.noteWipe()
        let reader = try environment.beginRead()
        try environment.write { try put("a", "b", table, $0) }
        #expect(environment.knownWipeCount.load(ordering: .relaxed) == 0)
        environment.end(reader)
        try environment.write { try put("a", "c", table, $0) }
        #expect(environment.knownWipeCount.load(ordering: .relaxed) == 1)
        #expect(try records(table, environment).contains("a"))
    }

    /// The opening of new tables is the first write after another process has wiped.
    @Test func tablesAreMadeAfterAnotherProcessHasWiped() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table)
        environment.sums.noteWipe()
        let isDone = DispatchSemaphore(value: 0)
        try BackgroundThread.start("open tables") {
            do {
                #expect(try environment.openTables(["t", "new", "newer"]).map(\.handle) == [2, 3, 4])
            } catch {
                Issue.record(error)
            }
            isDone.signal()
        }
        try #require(isDone.wait(timeout: .now() + 20) == .success)
        #expect(environment.knownWipeCount.load(ordering: .relaxed) == 1)
        let tables = try environment.openTables(["newer", "t"])
        try environment.write { try put("a", "c", tables[0], $0) }
        try environment.reopen()
        #expect(try records(tables[0], environment).contains("a"))
        #expect(!(try records(tables[1], environment)).isEmpty)
    }

    @Test func bordersKeepTheOrderOfTheirPages() throws {
        let size = 4096
        for (last, border, first) in [
            ("abc", "abdSecret", "abe"), ("abc", "abcSecret", "abd"), ("ab", "abcSecret", "abcT"),
            ("abcA", "abcASecret", "abcB"), ("a", "bSecret", "c"), ("aSec", "aSecret", "aSecretly"),
        ] {
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            // A branch page of two entries, the first one without a key.
            let key = Array(border.utf8)
            let offset = size - 8 - (key.count + 1) / 2 * 2
            bytes.storeBytes(of: Page.Kind.branch.flags, toByteOffset: 10, as: UInt16.self)
            bytes.storeBytes(of: 20, toByteOffset: 12, as: UInt16.self)
            bytes.storeBytes(of: UInt16(offset - 8), toByteOffset: 14, as: UInt16.self)
            bytes.storeBytes(of: UInt16(offset - 8), toByteOffset: 16, as: UInt16.self)
            bytes.storeBytes(of: UInt16(offset), toByteOffset: 18, as: UInt16.self)
            bytes.storeBytes(of: UInt16(key.count), toByteOffset: offset + 6, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[(offset + 8)...]).copyBytes(from: key)
            let page = try #require(Page(UnsafeRawBufferPointer(bytes), .branch))
            let (before, after) = (Array(last.utf8), Array(first.utf8))
            let part = before.withUnsafeBytes { before in
                after.withUnsafeBytes { page.outdatedPart(ofKey: 1, between: before, and: $0) }
            }
            // Every mixture of old and new bytes stands between the two keys.
            let range = part?.range ?? 0..<0
            for mixture in 0..<(1 << min(range.count, 8)) {
                var mixed = key
                for (bit, place) in range.enumerated() where bit >= 8 || mixture & (1 << bit) != 0 {
                    mixed[place - offset - 8] = part?.filler ?? 0
                }
                #expect(
                    before.lexicographicallyPrecedes(mixed) && !after.lexicographicallyPrecedes(mixed),
                    "\(last) \(border) \(first)")
            }
        }
    }
}
