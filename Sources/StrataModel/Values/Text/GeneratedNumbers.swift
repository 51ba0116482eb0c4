import Foundation

/// Reads the numbers of a generated table: base64 of LEB128, least significant seven bits first.
struct GeneratedNumbers {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ base64: StaticString) {
        let text = base64.withUTF8Buffer { Data($0) }
        bytes = Data(base64Encoded: text).map { Array($0) } ?? []
    }

    mutating func next() -> Int {
        var value = 0
        var shift = 0
        while true {
            let byte = bytes[offset]
            offset += 1
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }
}
