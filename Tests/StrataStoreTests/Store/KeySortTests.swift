import StrataTestSupport
import Testing

@testable import StrataStore

/// The order of a batch's operations beside the one that comparing whole keys gives.
@Suite struct KeySortTests {
    @Test(arguments: RandomTesting.seeds) func keysComeInTheirOrderAndEqualOnesInThatOfCollection(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for count in [0, 1, 2, 47, 48, 49, 500, 3_000] {
            check((0..<count).map { _ in Self.key(&random) })
        }
    }

    @Test func keysThatDifferOnlyInTheirEndComeShorterFirst() {
        let zeros = (0..<2_000).map { [UInt8](repeating: 0, count: 1 + $0 % 24) }
        check(zeros)
        check(zeros.reversed())
        check(zeros.map { [1, 2, 3, 4, 5, 6, 7, 8, 9] + $0 })
    }

    @Test func keysInOrderStayWhereTheyAre() {
        check((0..<1_000).map { number in withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } })
    }

    /// Keys of few bytes, so that many begin alike, end within a word, or are the same.
    private static func key(_ random: inout SeededGenerator) -> [UInt8] {
        let lead: [UInt8] = [0, 0, 0, UInt8.random(in: 1...3, using: &random), 1]
        let letters: [UInt8] = [0, 1, 97, 255]
        let tail = (0..<Int.random(in: 0...40, using: &random)).map { _ in letters[Int(random.next() % 4)] }
        let common = [UInt8](repeating: 97, count: Int(random.next() % 3) * 8)
        return Bool.random(using: &random) ? lead + common + tail : [letters[Int(random.next() % 4)]] + tail
    }

    private func check(_ keys: [[UInt8]], at location: SourceLocation = #_sourceLocation) {
        var arena = Arena()
        var list = keys.map { key in
            key.withUnsafeBytes { bytes in
                WriteBatch.PendingWrite(
                    prefix: KeySort.word(of: bytes, at: 0), keyOffset: UInt64(arena.append(bytes)), valueOffset: 0,
                    valueSize: 0, keySize: UInt16(bytes.count), isRemoval: false)
            }
        }
        let offsets = list.map(\.keyOffset)
        let expected = zip(keys, offsets).sorted { left, right in
            left.0 == right.0 ? left.1 < right.1 : left.0.lexicographicallyPrecedes(right.0)
        }
        var scratch = KeySort.Scratch()
        list.withUnsafeMutableBufferPointer { KeySort($0, keys: arena.start, &scratch).run() }
        #expect(list.map(\.keyOffset) == expected.map(\.1), sourceLocation: location)
        for (left, right) in zip(zip(list, expected), zip(list, expected).dropFirst()) where left.1.0 == right.1.0 {
            #expect(left.0.prefix == right.0.prefix, sourceLocation: location)
        }
    }
}
