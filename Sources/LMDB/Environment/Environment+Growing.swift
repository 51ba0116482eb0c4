// Grows the map when a write transaction needs more room than it has.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

extension Environment {
    /// The present size of the map in bytes.
    package var mapSizeInBytes: Int {
        let lower = bounds.lower.load(ordering: .relaxed)
        if lower != 0 { return Int(bounds.mapEnd.load(ordering: .relaxed) - lower) }
        guard let handle else { return 0 }
        return Int(Self.shape(of: handle).info.me_mapsize)
    }

    /// Makes the map larger after a write transaction has failed with `mapFull` and has been aborted.
    ///
    /// - Parameter size: the size that was too small; a map that has grown since is left alone.
    /// - Throws: `mapFull` when the limit or the address space is reached, `busy` when transactions stay open.
    package func growMap(from size: Int? = nil) throws(LMDBError) {
        try resize("grow the map") { present throws(LMDBError) in
            if let size, present > size { return nil }
            let step = max(present, options.growthStepInBytes)
            let wanted = min(present.addingReportingOverflow(step).partialValue, options.maximumMapSizeInBytes)
            return wanted > present ? wanted : present
        }
    }

    /// Makes the map at least as large as another process has made the file.
    func followMapSize() throws(LMDBError) {
        try resize("follow the growth of the map") { present throws(LMDBError) in
            let (info, pageSize) = Self.shape(of: try activeHandle("follow the growth of the map"))
            let needed = Int(info.me_last_pgno + 1) * pageSize
            if needed <= present { return nil }
            // Twice the size, but within the limit if the file itself is.
            return max(needed, min(needed * 2, options.maximumMapSizeInBytes))
        }
    }

    /// Replaces the map while no transaction is open.
    ///
    /// - Parameter choose: takes the present size; returns the wanted one, or nil when nothing needs to be done.
    private func resize(
        _ operation: String, _ choose: (Int) throws(LMDBError) -> Int?
    ) throws(LMDBError) {
        try checkProcess()
        let done: Void? = try gate.exclusively(timeout: options.drainTimeout) { () throws(LMDBError) in
            let handle = try activeHandle(operation)
            let present = Int(Self.shape(of: handle).info.me_mapsize)
            guard let wanted = try choose(present) else { return }
            let granted = try self.granted(from: present, to: wanted)
            guard granted > present else {
                throw failure(.mapFull, operation, detail: "the map has \(present) bytes, its limit")
            }
            let result = mdb_env_set_mapsize(handle, granted)
            guard result == 0 else { throw failure(result, operation) }
            noteMap(of: handle)
        }
        if done == nil { throw failure(.busy, operation, detail: "open transactions: \(gate.count)") }
    }

    /// The largest size up to the wanted one for which the system has address space.
    ///
    /// LMDB unmaps first and cannot go back when mapping fails, so this tries a map of that size beside it.
    private func granted(from present: Int, to wanted: Int) throws(LMDBError) -> Int {
        let page = Int(getpagesize())
        var extra = wanted - present
        while extra > 0 {
            let size = (present + extra + page - 1) / page * page
            let trial = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
            if let trial, trial != MAP_FAILED {
                munmap(trial, size)
                return size
            }
            extra /= 2
            if extra < page { break }
        }
        return present
    }
}
