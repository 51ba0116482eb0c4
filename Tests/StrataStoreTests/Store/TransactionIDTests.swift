import Foundation
import StrataStore
import Testing

/// Ids of transactions lie in the table in the order of their making.
@Suite struct TransactionIDTests {
    private static func bytes(_ id: UUID) -> [UInt8] { withUnsafeBytes(of: id.uuid) { Array($0) } }

    @Test func anIDBeginsWithItsMillisecondAndSaysItsVersion() {
        let moment = Date(timeIntervalSince1970: 1_700_000_000.1235)
        for _ in 0..<1_000 {
            let bytes = Self.bytes(.ofTransaction(at: moment))
            #expect(bytes.prefix(6) == [0x01, 0x8B, 0xCF, 0xE5, 0x68, 0x7B])
            #expect(bytes[6] >> 4 == 7)
            #expect(bytes[8] >> 6 == 2)
        }
    }

    @Test func idsOfOneMillisecondDiffer() {
        let moment = Date(timeIntervalSince1970: 1)
        #expect(Set((0..<10_000).map { _ in UUID.ofTransaction(at: moment) }).count == 10_000)
    }

    @Test func laterIDsSortBehindEarlierOnes() {
        var last = Self.bytes(.ofTransaction(at: Date(timeIntervalSince1970: -1)))
        for millisecond in [0, 1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001] {
            let next = Self.bytes(.ofTransaction(at: Date(timeIntervalSince1970: (Double(millisecond) + 0.5) / 1_000)))
            if millisecond > 0 { #expect(last.lexicographicallyPrecedes(next)) }
            last = next
        }
    }
}
