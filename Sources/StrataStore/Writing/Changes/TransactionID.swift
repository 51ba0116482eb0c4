// The ids of new transactions.

package import Foundation

extension UUID {
    /// A new transaction id: version 7 of RFC 9562, 48 bits of milliseconds since 1970, then 74 random bits.
    ///
    /// Ids sort by the time of their creation, so that saves which share a commit enter their ids on the last page of
    /// the table.
    ///
    /// - Parameter date: now. A wrong clock affects the order only.
    package static func ofTransaction(at date: Date = Date()) -> UUID {
        let milliseconds = UInt64(max(0, date.timeIntervalSince1970 * 1_000)) & (1 << 48 - 1)
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0..<1 << 12)
        let low = 1 << 63 | UInt64.random(in: 0..<1 << 62)
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
