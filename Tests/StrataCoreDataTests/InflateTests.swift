import Foundation
import StrataXcode
import Testing

@testable import StrataCoreData

/// Streams were packed with zlib at its highest level, without header.
@Suite struct InflateTests {
    /// With codes of its own.
    private static let packed = """
        c84vSlVwSSxJVChITM4uVsgsKVbIzU9JzVEoztdTcB6VHZUlS5aBkYmZhZWNnYOTi5uHl49fQFBIWERUTFxCUkpaRlZOXkFRSVlF\
        VU1dQ1NLW0dXT9/A0MjYxNTM3MLSytrG1s7ewdHJ2cXVzd3D08vbx9fPPyAwKDgkNCw8IjIqOiY2Lj4hMSk5JTUtPSMzKzsnNy+/\
        oLCouKS0rLyisqq6prauvqGxqbmlta29o7Oru6e3r3/CxEmTp0ydNn3GzFmz58ydN3/BwkWLlyxdtnzFylWr16xdt37Dxk2bt2zd\
        tn3Hzl279+zdt//AwUOHjxw9dvzEyVOnz5w9d/7CxUuXr1y9dv3GzVu379y9d//Bw0ePnzx99vzFy1ev37x99/7Dx0+fv3z99v3H\
        z1+///z99x8A
        """

    @Test func unpacksCodesOfTheStream() throws {
        let text = String(repeating: "Core Data packs its model so. ", count: 20)
        let unpacked = try Inflate.unpack(try Self.bytes(Self.packed), limit: 1000)
        #expect(unpacked == Array(text.utf8) + Array(0...255))
    }

    @Test func unpacksFixedCodesAndStoredBytes() throws {
        let fixed = try Inflate.unpack(try Self.bytes("S8usSE1RSM5PSS3WUUjDwQEA"), limit: 100)
        #expect(String(decoding: fixed, as: UTF8.self) == "fixed codes, fixed codes, fixed codes")
        #expect(try Inflate.unpack([1, 3, 0, 0xFC, 0xFF, 7, 8, 9], limit: 3) == [7, 8, 9])
    }

    @Test func endsAtTheLimit() throws {
        #expect(throws: ArchiveError.self) { try Inflate.unpack(try Self.bytes(Self.packed), limit: 855) }
    }

    @Test func everyDamagedStreamEndsInAnErrorOrInOtherBytes() throws {
        let bytes = try Self.bytes(Self.packed)
        for count in 0..<bytes.count {
            #expect(throws: ArchiveError.self) { try Inflate.unpack(Array(bytes.prefix(count)), limit: 1000) }
        }
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let unpacked = try? Inflate.unpack(damaged, limit: 1000)
            #expect(unpacked?.count ?? 0 <= 1000)
        }
    }

    private static func bytes(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }
}
