// Events and transaction records with a valid checksum and arbitrary contents, as a faulty writer would leave them:
// reading throws or returns values, and never traps.

import Foundation
import StrataModel

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > EventHeader.size else { return 0 }
    var bytes = Array(UnsafeBufferPointer(start: data, count: size))
    bytes[0] = 1
    let payloadSize = UInt32(size - EventHeader.size)
    bytes.withUnsafeMutableBytes { bytes in
        bytes.storeBytes(of: payloadSize.littleEndian, toByteOffset: 32, as: UInt32.self)
        EventHeader.seal(bytes)
    }
    bytes.withUnsafeBytes { bytes in
        if let event = try? EventView(bytes) {
            _ = try? event.changes()
            _ = try? event.deleted()
            _ = try? event.pair()
            _ = try? event.installedModel()
        }
        let number = TransactionNumber(rawValue: 1)
        if let transaction = try? TransactionRecord(bytes, number: number) {
            _ = transaction.lastEvent
            _ = transaction.encoded()
        }
    }
    return 0
}
