import Foundation
import LMDB

/// A directory that is removed when the test is over.
final class TemporaryStore: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.path + "/lmdb-\(UUID().uuidString)"
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var dataPath: String { path + "/data.mdb" }

    func dataBytes() throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: dataPath))
    }

    func open(_ change: (inout EnvironmentOptions) -> Void = { _ in }) throws(LMDBError) -> Environment {
        var options = EnvironmentOptions()
        change(&options)
        return try Environment.open(at: path, options: options)
    }

    /// A closed store whose table "t" holds records 0..<count with 100-byte values.
    func fill(_ count: UInt64 = 10) throws {
        let environment = try open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for key in 0..<count { try transaction.put(table, key, [UInt8](repeating: UInt8(key % 251), count: 100)) }
        }
        try environment.close()
    }
}

extension WriteTransaction {
    func put(_ table: Table, _ key: UInt64, _ value: [UInt8]) throws {
        try value.withUnsafeBytes { bytes in try put(table, key, bytes) }
    }

    func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in try put(table, key, value) }
        }
    }

    func append(_ table: Table, _ key: UInt64, _ value: [UInt8]) throws {
        try value.withUnsafeBytes { bytes in try append(table, key, bytes) }
    }
}

extension Environment {
    /// Lets long values come and go, each pair in one transaction, so that the last pages of the file are free and were
    /// never written. Leaves record 1.
    func writeAndLeaveAShortFile(_ table: Table) throws {
        for sizes in [[], [1_000_000], [3_000_000, 2_000_000]] {
            try write { transaction in
                try transaction.put(table, 1, [1])
                for (index, size) in sizes.enumerated() {
                    _ = try transaction.reserve(table, UInt64(index + 2), sizeInBytes: size)
                }
                for index in sizes.indices.reversed() { _ = try transaction.delete(table, UInt64(index + 2)) }
            }
        }
    }
}

extension ReadTransaction {
    func bytes(_ table: Table, _ key: UInt64) throws -> [UInt8]? {
        try get(table, key).map { [UInt8]($0) }
    }

    func bytes(_ table: Table, _ key: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { key in try get(table, key).map { [UInt8]($0) } }
    }
}

extension Cursor {
    func seek(atOrAfter key: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in try seek(atOrAfter: key) }
    }

    func seek(to key: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in try seek(to: key) }
    }

    func seek(before key: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in try seek(before: key) }
    }

    /// The number that the cursor stands on; nil if the move found no record.
    func number(ifMoved moved: Bool) -> UInt64? { moved ? number : nil }

    /// The key as a big-endian number.
    var number: UInt64 { UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
}

/// The code with which the body fails, or nil.
func code<Success>(_ body: () throws -> Success) -> LMDBError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? LMDBError)?.code
    }
}
