import StrataStore

/// Shows the progress of an import, and asks whether it is to end early.
final class ImportWatch {
    let progress: ProgressHandler?
    private let isInterrupted: () -> Bool
    private var rowsDone = 0
    var rowCount = 0

    init(_ progress: ProgressHandler?, _ isInterrupted: @escaping () -> Bool) {
        self.progress = progress
        self.isInterrupted = isInterrupted
    }

    func begin() { rowsDone = 0 }

    /// - Throws: `CoreDataImporter.Interrupted`.
    func noteRow(_ phase: String) throws {
        rowsDone += 1
        guard rowsDone % 1000 == 0 else { return }
        try check()
        progress?(StoreProgress(phase: phase, done: rowsDone, total: rowCount))
    }

    /// - Throws: `CoreDataImporter.Interrupted`.
    func check() throws {
        if isInterrupted() { throw CoreDataImporter.Interrupted() }
    }
}
