#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The long text that a context read last, so that reading it again makes no new string.
///
/// Only one is kept, so that texts are not in memory twice.
@usableFromInline struct LongText {
    /// Making a shorter text costs about as much as comparing it.
    @usableFromInline static let fewestBytes = 4096
    private var last: String?

    /// The text of bytes of UTF-8; ill-formed ones are repaired again each time.
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
    /// The text of bytes that are long enough to be worth keeping; see `LongText`.
    @usableFromInline final func _longText(_ bytes: UnsafeRawBufferPointer) -> String {
        guard let context = _context else { return String(decoding: bytes, as: UTF8.self) }
        return context.memory.longText.text(of: bytes)
    }
}
