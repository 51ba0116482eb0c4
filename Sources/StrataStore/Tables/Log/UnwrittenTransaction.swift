import Foundation
import StrataModel

/// A transaction whose events are sealed, before it is written to the log and its views are.
struct UnwrittenTransaction {
    /// The end of the log when it has the transaction.
    let head: LogHead
    /// Whether no declared view can refuse the transaction any more.
    let isCertain: Bool
}

/// The bytes of a frame (`LogFrame`) as a log makes them. Who receives them checks them.
struct EncodedFrame {
    let record: TransactionRecord
    let bytes: Data
    /// The large values that the events name, each once.
    let blobDigests: [Data]

    fileprivate init(_ record: TransactionRecord, _ bytes: Data, _ blobDigests: [Data]) {
        self.record = record
        self.bytes = bytes
        self.blobDigests = blobDigests
    }

    /// - Parameters:
    ///   - recordBytes: `record` as it is in the log.
    ///   - addingEvents: appends each event behind its length.
    init(
        _ record: TransactionRecord, _ recordBytes: UnsafeRawBufferPointer, _ blobDigests: [Data],
        addingEvents: (inout ByteWriter) throws -> Void
    ) rethrows {
        self.record = record
        self.blobDigests = blobDigests
        bytes = try LogFrame.encoded(
            record.number, record: recordBytes, blobDigests: blobDigests, addingEvents: addingEvents)
    }
}

extension LogFrame {
    var encoded: EncodedFrame { EncodedFrame(record, bytes, blobDigests) }
}
