import Foundation
import LMDB
import Testing

/// Damage on which LMDB's copying without free pages would write outside its memory is found before it begins.
@Suite struct TreeCheckTests {
    private let store = TemporaryStore()
    private let pageSize = 4096

    /// Two tables with values of all sizes, some of them gone again; 30 transactions.
    private func fill() throws {
        let environment = try store.open()
        let tables = try environment.openTables(["a", "b"])
        for step in 0..<30 as Range<UInt64> {
            try environment.write { transaction in
                for number in 0..<40 as Range<UInt64> {
                    let key = (step * 977 + number * 131) % 600
                    let size = key % 17 == 0 ? 9000 : Int(key % 300)
                    try transaction.put(tables[Int(number % 2)], key, [UInt8](repeating: UInt8(step), count: size))
                    _ = try transaction.delete(tables[Int(number % 2)], (key + 300) % 600)
                }
                try transaction.append(tables[0], 1_000_000 + step, [1, 2, 3])
            }
        }
        try environment.close()
    }

    /// The error of a copy of a file with these bytes; nil when it is copied.
    private func copy(_ bytes: Data) throws -> LMDBError? {
        let (damaged, target) = (TemporaryStore(), TemporaryStore())
        mkdir(damaged.path, 0o700)
        try bytes.write(to: URL(fileURLWithPath: damaged.dataPath))
        chmod(damaged.dataPath, 0o600)
        let environment = try damaged.open { $0.access = .readOnly }
        defer { #expect(throws: Never.self) { try environment.close() } }
        do {
            try environment.copy(to: target.path, .compacting)
        } catch {
            #expect(!FileManager.default.fileExists(atPath: target.path))
            return error
        }
        return nil
    }

    @Test func aSoundFileIsCopied() throws {
        try fill()
        #expect(try copy(store.dataBytes()) == nil)
    }

    /// One part of a page at a time: all of it, its number, kind, bounds, the offset of its first entry, and its entries.
    @Test(arguments: [0..<4096, 0..<8, 10..<12, 12..<16, 16..<18, 18..<4096]) func aDamagedPageIsNamed(
        part: Range<Int>
    ) throws {
        try fill()
        let sound = try store.dataBytes()
        var named = 0
        for page in 2..<sound.count / pageSize {
            var bytes = sound
            for offset in part { bytes[page * pageSize + offset] = UInt8(truncatingIfNeeded: offset &* 37 &+ 0xC7) }
            guard let error = try copy(bytes) else { continue }
            #expect(error.code == .corrupted, "\(error)")
            named += error.detail.hasPrefix("page ") ? 1 : 0
        }
        #expect(named > 20, "\(named) pages")
    }

    @Test func pagesThatLeadInACircleComeToAnEnd() throws {
        try fill()
        let sound = try store.dataBytes()
        let branches = (2..<sound.count / pageSize).map { $0 * pageSize }.filter { sound[$0 + 10] == 1 }
        try #require(!branches.isEmpty)
        var found = 0
        for branch in branches {
            var bytes = sound
            // The first entry leads to the page itself.
            let node = branch + Int(bytes[branch + 16]) + Int(bytes[branch + 17]) << 8
            let number = UInt32(branch / pageSize)
            withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(node..<node + 4, with: $0) }
            if let error = try copy(bytes) {
                found += 1
                #expect(error.code == .corrupted, "\(error)")
            }
        }
        #expect(found > 0)
    }
}
