// Values in the self-describing codec: any bytes are refused, or decoded to a value that is encoded as the same bytes.
// Decoding never traps, recurses without bound, or takes memory out of proportion.

import Foundation
import StrataModel

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    var reader = ByteReader(bytes)
    var writer = ByteWriter()
    while !reader.isAtEnd {
        let start = reader.offset
        guard let value = try? ValueCodec.decodeRecorded(&reader) else { return 0 }
        writer.reset()
        guard (try? ValueCodec.encode(value, into: &writer)) != nil else {
            preconditionFailure("a value that was read cannot be written")
        }
        precondition(writer.bytes.elementsEqual(bytes[start..<reader.offset]), "a value is written as other bytes")
    }
    return 0
}
