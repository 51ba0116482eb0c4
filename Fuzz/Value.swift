// Values in the self-describing codec: whatever the bytes, decoding throws or gives a value that is written as the very
// bytes it was read from; nothing traps, recurses without end or takes memory out of proportion.

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
