import Foundation
import StrataModel

/// The identity of a store among those that share its log, in the table `state`:
///
///     key    "node"
///     value  16 bytes id, UInt64 little-endian XXH64 of the machine's name and the store's path
///
/// A copy of the store at another place gets an id of its own.
struct NodeIdentity: Equatable {
    let id: UUID
    let place: UInt64

    static let key: StaticString = "node"

    init(id: UUID, place: UInt64) {
        self.id = id
        self.place = place
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 24 else { return nil }
        id = UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        place = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: id.uuid) { bytes += $0 }
        withUnsafeBytes(of: place.littleEndian) { bytes += $0 }
        return bytes
    }

    /// The name of this machine.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return name.withUnsafeBufferPointer { String(decoding: $0.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self) }
    }()

    static func place(of path: String) -> UInt64 {
        Array("\(machine)\n\(path)".utf8).withUnsafeBytes { XXH64.hash($0) }
    }
}
