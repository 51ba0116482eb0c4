#if canImport(Glibc)
    import Glibc
#endif
import Synchronization

extension ReadTransaction {
    /// Takes the pages of the file out of this process's memory. They stay in the system's cache, and are mapped again
    /// when they are read. The open transaction keeps the map in its place meanwhile.
    package func releaseMappedPages() {
        #if os(Linux)
            let start = bounds.lower.load(ordering: .relaxed)
            let end = min(bounds.upper.load(ordering: .relaxed), bounds.mapEnd.load(ordering: .relaxed))
            guard start != 0, end > start, let address = UnsafeMutableRawPointer(bitPattern: start) else { return }
            // The map is shared and read only, so nothing is lost.
            _ = madvise(address, Int(end - start), MADV_DONTNEED)
        #endif
    }
}
