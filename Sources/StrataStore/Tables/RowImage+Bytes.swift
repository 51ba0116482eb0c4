import StrataModel

extension RowImage {
    /// The image's bytes, without a copy.
    ///
    /// They stay at their address while the image lives, because an image never changes. Code that keeps the pointer
    /// must keep the image.
    var unsafeBytes: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }
}

extension UnsafeRawBufferPointer {
    static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
