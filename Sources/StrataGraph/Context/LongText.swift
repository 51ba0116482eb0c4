#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The long text that a context read last: whoever looks at one several times gets it made once.
///
/// One alone is kept, so that texts do not stand in memory twice.
@usableFromInline struct LongText {
    /// Shorter ones are made about as soon as they are compared.
    @usableFromInline static let fewestBytes = 4096
    private var last: String?

    /// The text of bytes of UTF-8; ill-formed ones are repaired, each time anew.
    mutating func text(of bytes: UnsafeRawBufferPointer) -> String {
        if let last, last.isText(of: bytes) { return last }
        let text = String(decoding: bytes, as: UTF8.self)
        last = text
        return text
    }
}

extension String {
    fileprivate func isText(of bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count, let start = bytes.baseAddress else { return false }
        return utf8.withContiguousStorageIfAvailable { own in
            own.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false
        } ?? false
    }
}

extension ManagedObject {
    /// A text of so many bytes that it is worth while to know it again.
    @usableFromInline final func _longText(_ bytes: UnsafeRawBufferPointer) -> String {
        guard let context = _context else { return String(decoding: bytes, as: UTF8.self) }
        return context.memory.longText.text(of: bytes)
    }
}
