import Foundation
import StrataModel
import StrataStore

/// What keeps a log in memory small.
struct MemoryUpkeep: SharedLogUpkeep {
    private let server: MemoryLog

    init(_ server: MemoryLog) { self.server = server }

    func blobDigests(after digest: Data?, limit: Int) throws(SharedLogFailure) -> [Data] {
        let all = server.withState { $0.blobs.keys.map { Array($0) } }.sorted { $0.lexicographicallyPrecedes($1) }
        let rest = digest.map { last in all.filter { Array(last).lexicographicallyPrecedes($0) } } ?? all
        return rest.prefix(limit).map { Data($0) }
    }

    func remove(blobs: [Data], at end: TransactionNumber) throws(SharedLogFailure) -> Bool {
        server.withState { state in
            guard state.end.transaction == end else { return false }
            for digest in blobs { state.blobs[digest] = nil }
            return true
        }
    }
}
