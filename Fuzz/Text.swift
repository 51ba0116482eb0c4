// Text folding: for any bytes and any folding the result is UTF-8, folds to itself, and equals that of the repaired
// text. With a limit it begins the same.

import Foundation
import StrataModel

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > 1 else { return 0 }
    let folding = StringFolding(rawValue: data[0] & 3)
    let limit = Int(data[1])
    let text = Array(UnsafeBufferPointer(start: data + 2, count: size - 2))
    let whole = fold(text, folding)
    precondition(String(validating: whole, as: UTF8.self) != nil, "not UTF-8")
    precondition(fold(whole, folding) == whole, "folding twice is not folding once")
    precondition(fold(Array(String(decoding: text, as: UTF8.self).utf8), folding) == whole, "repaired otherwise")
    precondition(fold(text, folding, limit: limit).prefix(limit) == whole.prefix(limit), "cut otherwise")
    return 0
}

private func fold(_ bytes: [UInt8], _ folding: StringFolding, limit: Int = .max) -> [UInt8] {
    var writer = ByteWriter()
    bytes.withUnsafeBufferPointer { TextFolding.fold($0, folding, into: &writer, limit: limit) }
    return writer.array
}
