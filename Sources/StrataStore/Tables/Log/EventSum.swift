// The events that are kept up to a cut are covered by one sum: for each, SHA-256 over its number (UInt64, little-endian)
// and its bytes 0..<4 and 8..<56, with the flags 2 and 16 (values removed) as if they were not set; the digests, read as little-endian
// numbers of 256 bits, are added modulo 2^256. So an event can be added or removed without a look at the others.

import Crypto
import StrataModel

/// The sum over a set of events, whatever their order.
struct EventSum: Sendable, Hashable {
    /// Least significant first.
    private(set) var words: SIMD4<UInt64> = .zero

    init() {}

    init(words: SIMD4<UInt64>) { self.words = words }

    mutating func add(_ event: UnsafeRawBufferPointer, _ number: EventNumber) { add(Self.digest(event, number)) }

    mutating func remove(_ event: UnsafeRawBufferPointer, _ number: EventNumber) {
        var complement = EventSum(words: ~Self.digest(event, number))
        complement.add([1, 0, 0, 0])
        add(complement.words)
    }

    private mutating func add(_ other: SIMD4<UInt64>) {
        var carry: UInt64 = 0
        for index in words.indices {
            let (first, firstOverflow) = words[index].addingReportingOverflow(other[index])
            let (second, secondOverflow) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = firstOverflow || secondOverflow ? 1 : 0
        }
    }

    /// - Parameter event: at least a header long.
    private static func digest(_ event: UnsafeRawBufferPointer, _ number: EventNumber) -> SIMD4<UInt64> {
        let length = 8 + 4 + EventHeader.saltOffset - 8
        return withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { bytes in
            bytes.storeBytes(of: number.rawValue.littleEndian, as: UInt64.self)
            let reduced = UInt32(EventFlags.reduced.rawValue) << 16
            let start = UInt32(littleEndian: event.loadUnaligned(as: UInt32.self)) & ~reduced
            bytes.storeBytes(of: start.littleEndian, toByteOffset: 8, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[12...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: event[8..<EventHeader.saltOffset]))
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return hash.finalize().withUnsafeBytes { digest in
                var words: SIMD4<UInt64> = .zero
                for index in words.indices {
                    let word = digest.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
                    words[index] = UInt64(littleEndian: word)
                }
                return words
            }
        }
    }
}
