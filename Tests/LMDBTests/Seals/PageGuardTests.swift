import Foundation
import Testing

@testable import LMDB

/// Each way in which one page can be damaged is seen before the page is used.
@Suite struct PageGuardTests {
    private static let pageSize = 4096

    /// The leaf page of a table with some records, as the file has it, and its number.
    private func leaf() throws -> (bytes: [UInt8], number: UInt64) {
        let store = TemporaryStore()
        try store.fill(20)
        let data = [UInt8](try store.dataBytes())
        for number in 2..<data.count / Self.pageSize {
            let bytes = Array(data[number * Self.pageSize..<(number + 1) * Self.pageSize])
            let isLeaf = bytes.withUnsafeBytes { bytes in
                Page.number(of: bytes) == number && (Page(bytes, .leaf)?.count ?? 0) == 20
            }
            if isLeaf { return (bytes, UInt64(number)) }
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    private func isAdmitted(_ bytes: [UInt8], _ number: UInt64) -> Bool {
        bytes.withUnsafeBytes {
            PageGuard(path: "", sums: PageSums(isUsed: false, isWritable: false, file: 0)).admitsCopy(
                number, $0, PageGuard.mark(of: 1))
        }
    }

    @Test func aSoundPageIsAdmitted() throws {
        let (bytes, number) = try leaf()
        #expect(isAdmitted(bytes, number))
        #expect(!isAdmitted(bytes, number + 1))
    }

    @Test func everyBitOfAHeadOrOfTheListOfEntriesMatters() throws {
        let (bytes, number) = try leaf()
        // Bytes 8 and 9 are of no use to LMDB in such a page.
        for offset in 0..<16 + 2 * 20 where offset != 8 && offset != 9 {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << UInt8(bit)
                #expect(!isAdmitted(damaged, number), "bit \(bit) of byte \(offset)")
            }
        }
    }

    @Test func aChangedKeyOrSizeIsSeen() throws {
        let (bytes, number) = try leaf()
        let offset = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16 + 2 * 10, as: UInt16.self) }
        // The size of the value, flags, the size of the key, and the first byte of the key.
        for byte in Array(0..<9) {
            var damaged = bytes
            damaged[Int(offset) + byte] ^= 0x40
            #expect(!isAdmitted(damaged, number), "byte \(byte) of an entry")
        }
    }

    @Test func pagesOfZerosAndOfNoiseAreRefused() throws {
        var random = SystemRandomNumberGenerator()
        #expect(!isAdmitted(Array(repeating: 0, count: Self.pageSize), 2))
        #expect(!isAdmitted((0..<Self.pageSize).map { _ in UInt8.random(in: 0 ... .max, using: &random) }, 2))
    }
}
