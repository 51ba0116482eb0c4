/// The pages that one commit freed, or that are left of them: an entry of LMDB's table 0.
///
/// The key is the number of the commit u64, the value a count u64 and page numbers u64, the highest first, in the byte
/// order of the host.
struct FreeList {
    let commit: UInt64
    let count: Int
    private let bytes: UnsafeRawBufferPointer

    /// - Returns: nil where it contradicts itself.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let words = value.count / 8
        guard key.count == 8, words > 0, let count = Int(exactly: value.loadUnaligned(as: UInt64.self)), count < words
        else { return nil }
        commit = key.loadUnaligned(as: UInt64.self)
        self.count = count
        bytes = value
    }

    /// The number of a page. The index must be below `count`.
    subscript(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: 8 * (index + 1), as: UInt64.self) }
}
