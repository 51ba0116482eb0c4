import Foundation
import StrataModel
import StrataStore

/// Notes that a child process writes while it reads a damaged file, so that its parent knows how far it came.
final class DoctorNotes {
    enum Phase: String, CaseIterable {
        case log = "reading the log"
        case views = "reading the views"
        case writing = "writing the new store"
        case rows = "reading rows from after the damage"
    }

    private static let limitKey = "STRATA_DOCTOR_LIMIT"
    private static let skipKey = "STRATA_DOCTOR_SKIP_VIEWS"
    private static let pagesKey = "STRATA_DOCTOR_ONLY_PAGES"
    private let path: String
    private let descriptor: Int32
    /// The last transaction to read; nil for all.
    let limit: TransactionNumber?
    /// Whether to leave out the views, because reading them ended the first child.
    let skipsViews: Bool
    /// Whether to open the file with LMDB; false if that ended the first child.
    let opensFile: Bool

    /// Makes the file of notes, in the parent.
    init() throws {
        path = FileManager.default.temporaryDirectory
            .appending(component: "strata-doctor-\(UUID().uuidString)").path(percentEncoded: false)
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        limit = nil
        skipsViews = false
        opensFile = true
        guard descriptor >= 0 else {
            throw StrataError(.persistentStoreOperation, "\(path) cannot be made: \(String(cString: strerror(errno))).")
        }
    }

    private init(child path: String, _ environment: [String: String]) {
        self.path = path
        limit = environment[Self.limitKey].flatMap { UInt64($0) }.map { TransactionNumber(rawValue: $0) }
        skipsViews = environment[Self.skipKey] != nil
        opensFile = environment[Self.pagesKey] == nil
        descriptor = open(path, O_RDWR | O_CLOEXEC)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The notes of this process if it is a child; nil in the parent.
    static var ofChild: DoctorNotes? {
        let environment = ProcessInfo.processInfo.environment
        guard let path = environment[GuardedRun.doctorNotesKey] else { return nil }
        return DoctorNotes(child: path, environment)
    }

    var variables: [String: String] { [GuardedRun.doctorNotesKey: path] }

    func remove() { unlink(path) }

    // MARK: The child

    func enter(_ phase: Phase) { put(UInt64(Phase.allCases.firstIndex(of: phase) ?? 0) + 1, at: 0) }

    func passed(_ transaction: TransactionNumber) { put(transaction.rawValue, at: 8) }

    /// Writes at once, so that the note survives the end of the process.
    private func put(_ number: UInt64, at offset: off_t) {
        withUnsafeBytes(of: number) { _ = pwrite(descriptor, $0.baseAddress, 8, offset) }
    }

    // MARK: The parent

    private func get(at offset: off_t) -> UInt64 {
        var number: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &number) { pread(descriptor, $0.baseAddress, 8, offset) }
        return count == 8 ? number : 0
    }

    var phase: Phase? {
        let number = Int(clamping: get(at: 0))
        return number > 0 && number <= Phase.allCases.count ? Phase.allCases[number - 1] : nil
    }

    /// Variables for a second child, which leaves out what ended the first; nil if a second child would end too.
    var limitOfSecondChild: [String: String]? {
        switch phase {
        case .log: [Self.limitKey: "\(get(at: 8))"]
        case .views: [Self.skipKey: "1"]
        case .writing, nil: [Self.pagesKey: "1"]
        case .rows: nil
        }
    }
}
