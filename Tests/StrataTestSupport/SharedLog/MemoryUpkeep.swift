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

    private func ask<R>(
        _ body: (inout MemoryLog.State) throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        let result: Result<R, SharedLogFailure> = server.withState { state in
            Result { () throws(SharedLogFailure) in try body(&state) }
        }
        return try result.get()
    }

    func beginning() throws(SharedLogFailure) -> SharedLogBeginning {
        server.withState { SharedLogBeginning(cut: $0.cut, snapshot: $0.snapshot) }
    }

    func piece(_ index: Int, of snapshot: UUID) throws(SharedLogFailure) -> Data? {
        server.withState { $0.pieces[snapshot]?[index] }
    }

    func put(piece: Data, at index: Int, of snapshot: UUID) throws(SharedLogFailure) {
        server.withState { $0.pieces[snapshot, default: [:]][index] = piece }
    }

    func publish(_ snapshot: SharedSnapshot) throws(SharedLogFailure) -> Bool {
        try ask { state throws(SharedLogFailure) in
            if let known = state.snapshot, known.id == snapshot.id || known.end.transaction >= snapshot.end.transaction
            {
                if known.id != snapshot.id { state.pieces[snapshot.id] = nil }
                return true
            }
            guard state.pieces[snapshot.id]?.count == snapshot.pieces else { return false }
            try state.check(snapshot.end)
            state.snapshot = snapshot
            state.pieces = state.pieces.filter { $0.key == snapshot.id }
            return true
        }
    }

    func cut(through end: SharedLogEnd) throws(SharedLogFailure) {
        try ask { state throws(SharedLogFailure) in
            if end.transaction <= state.cut.transaction { return }
            guard let snapshot = state.snapshot, snapshot.end.transaction >= end.transaction else {
                throw .refused(StrataError(.divergedLog, "No snapshot has transaction \(end.transaction)."))
            }
            try state.check(end)
            state.cut = end
        }
    }

    func dropCut(limit: Int) throws(SharedLogFailure) -> Int {
        server.withState { state in
            let gone = state.transactions.prefix { $0.number <= state.cut.transaction }.prefix(limit).count
            state.transactions.removeFirst(gone)
            return gone
        }
    }
}

extension MemoryLog.State {
    /// - Throws: `refused` if the log has another transaction there.
    fileprivate func check(_ end: SharedLogEnd) throws(SharedLogFailure) {
        guard try digest(of: end.transaction) == end.digest else { throw .refused(.diverged(at: end)) }
    }
}
