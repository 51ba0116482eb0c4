#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

/// Copies of a file's pages, made with plain reads.
final class PageCopies {
    private let descriptor: Int32
    let pageSize: Int
    /// The leaves that were read last, the newest at `last`.
    private var leaves: [UnsafeMutableRawBufferPointer?]
    private var last = 0
    /// For the way to a leaf.
    private let branch: UnsafeMutableRawBufferPointer

    init(_ environment: Environment) {
        var file: Int32 = -1
        if let handle = environment.handle { mdb_env_get_fd(handle, &file) }
        descriptor = file
        pageSize = 1 << Int(environment.bounds.pageShift.load(ordering: .relaxed))
        leaves = Array(repeating: nil, count: Cursor.lookupWidth)
        branch = .allocate(byteCount: pageSize, alignment: 16)
    }

    deinit {
        branch.deallocate()
        for leaf in leaves { leaf?.deallocate() }
    }

    /// A page of the file; nil where there is none. A branch is valid until the next page, a leaf until
    /// `Cursor.lookupWidth` more leaves have been read.
    func page(_ number: UInt64, isLeaf: Bool) -> UnsafeRawBufferPointer? {
        let page = isLeaf ? nextLeaf() : branch
        guard pread(descriptor, page.baseAddress, pageSize, off_t(number) * off_t(pageSize)) == pageSize else {
            return nil
        }
        return UnsafeRawBufferPointer(page)
    }

    private func nextLeaf() -> UnsafeMutableRawBufferPointer {
        last = (last + 1) % leaves.count
        let leaf = leaves[last] ?? .allocate(byteCount: pageSize, alignment: 16)
        leaves[last] = leaf
        return leaf
    }
}
