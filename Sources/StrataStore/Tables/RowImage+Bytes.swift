import StrataModel

extension RowImage {
    /// The image's bytes where they are.
    ///
    /// An array's elements stay at one address while the array lives unchanged, and an image never changes; whoever
    /// keeps the pointer keeps the image.
    var unsafeBytes: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }
}

extension UnsafeRawBufferPointer {
    static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

extension StrataError {
    /// A record of `table` that is not what it says.
    static func corrupt(
        _ cause: CorruptRecord, _ table: String, id: ObjectID? = nil, at eventNumber: EventNumber? = nil
    )
        -> StrataError
    {
        StrataError(
            .corrupt, "A record of the table '\(table)' is damaged: \(cause.reason).",
            context: Context(objectID: id, eventNumber: eventNumber), cause: cause)
    }
}
