// Xcode's model files: any bytes are read, or refused with a line and column of the file, in bounded time and depth.
// The result is a model or a list of problems. A model that is written is read again as an equal one.
//
// The first byte chooses what surrounds the rest: nothing, a model, an entity, an attribute's tag, or the signature of a
// file from before Xcode 4, which is refused without a location.

import Foundation
import StrataModel
import StrataXcode

private let frames: [(String, String)] = [
    ("", ""), ("<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">", "</model>"),
    ("<model><entity name=\"A\" representedClassName=\"A\">", "</entity></model>"),
    ("<model><entity name=\"A\"><attribute name=\"a\" attributeType=\"String\" ", "/></entity></model>"),
    ("bplist00", ""),
]

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > 1 else { return 0 }
    let (head, tail) = frames[Int(data[0]) % frames.count]
    let bytes = Array(head.utf8) + UnsafeBufferPointer(start: data + 1, count: size - 1) + Array(tail.utf8)
    let file: XcodeModel
    do throws(StrataError) {
        file = try XcodeModel(contents: Data(bytes), name: "M")
    } catch {
        check(error, bytes)
        return 0
    }
    do throws(StrataError) {
        let model = try file.managedObjectModel()
        let written = try model.xcodeContents()
        let again = try XcodeModel(contents: written, name: "M").managedObjectModel()
        precondition(again == model, "read otherwise:\n\(String(decoding: written, as: UTF8.self))")
    } catch {
        precondition(error.code == .invalidModel, "\(error)")
    }
    return 0
}

private func check(_ error: StrataError, _ bytes: [UInt8]) {
    precondition(error.code == .invalidModelFile, "\(error)")
    if bytes.starts(with: Array("bplist00".utf8)) { return }
    guard let problem = error.cause as? ModelFileError else { preconditionFailure("no location: \(error)") }
    // A carriage return may count as the end of a line.
    let lines = bytes.reduce(1) { $0 + ($1 == 0x0A || $1 == 0x0D ? 1 : 0) }
    precondition(1...lines ~= problem.location.line && 1...bytes.count + 1 ~= problem.location.column, "\(problem)")
}
