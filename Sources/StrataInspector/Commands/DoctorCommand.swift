import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Reads a damaged store as far as it can, says what is lost, and saves what is sound.",
        discussion: """
            The log is read from its beginning, and nothing else of the store is believed: every event and transaction is \
            held against its checksum, its digest and the chain of digests. What stands behind the first fault is told \
            transaction by transaction, as far as these can be read. Where the file has been cut short, or its first pages \
            are lost, the pages that are left are searched for the log. The store itself is only read.

            --into NEW makes a new store of the sound part, its views replayed from the log, and verifies it; then rows, \
            deletions and links behind the fault that are sound by themselves are added as one transaction by 'strata \
            doctor', without the history they had. A model that was installed behind the fault is taken from the views, also \
            where nothing of the log is sound. When the log is sound and only views are damaged, 'strata rebuild' is \
            all it takes.

            The exit code is 0 for a sound store, 1 when anything is damaged, whatever could be saved.

            --json prints {"sound", "transaction", "eventNumber", "problem", "head", "lost": [{"transaction", "time", "author", \
            "events"}], "viewProblems", "largeValueProblems", "into": {"path", "eventNumber", "transactions", "events", "objects", "blobs", "problems"}, \
            "saved": {"objects", "deletions", "links", "damagedRecords", "refused", "cutLinks", "unreadableTables", "refusal"}}.

            Examples:
                strata doctor BowTies.strata
                strata doctor BowTies.strata --into Saved.strata
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("The directory of the new store; it must not exist.", valueName: "directory"))
    var into: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.checkIsThere()
        guard let notes = DoctorNotes.ofChild else { return try runChildren() }
        if let into { Interrupt.endAtOnce(making: into) }
        var salvage = try LogSalvage(store.path.droppingTrailingSlash, opensFile: notes.opensFile)
        let progress = ProgressLine()
        notes.enter(.log)
        let finding = try salvage.examine(
            through: notes.limit, note: { notes.passed($0) }, progress: progress.handler)
        var report = DoctorReport(finding)
        if finding.problem == nil, !notes.skipsViews {
            // Of one file there is one opening, in one way, in a process.
            try salvage.close()
            (report.viewProblems, report.largeValueProblems) = try problems(progress, notes)
            salvage = try LogSalvage(store.path.droppingTrailingSlash)
        }
        if into != nil { notes.enter(.writing) }
        let canSave = into != nil && (finding.end != nil || salvage.holdsModel)
        if let into, canSave {
            let url = URL(filePath: into, directoryHint: .isDirectory)
            let copy = try salvage.write(through: finding.end, to: url, progress: progress.handler)
            Interrupt.finish()
            report.into = CopyText(path: into, copy)
            notes.enter(.rows)
            if finding.problem != nil { report.saved = try saveRows(salvage, finding.end?.lastEvent ?? .zero, into) }
        }
        progress.finish()
        try salvage.close()
        try report.print(json: json)
        if into != nil, !canSave {
            Output.printError("strata: no transaction is sound, and no model can be read; nothing was written.")
        }
        if !report.sound { throw ExitStatus.FoundProblem() }
    }

    /// nil where the store cannot even be opened.
    private func problems(_ progress: ProgressLine, _ notes: DoctorNotes) throws -> (views: Int?, largeValues: Int) {
        notes.enter(.views)
        do {
            return try store.reading { store in
                let report = try store.verify(.full, progress: progress.handler)
                let largeValues = report.problems.count { $0.kind == .blob }
                return (report.problemCount - largeValues, largeValues)
            }
        } catch let error as StrataError where error.code != .noSpace {
            return (nil, 0)
        }
    }

    private func saveRows(_ salvage: LogSalvage, _ end: EventNumber, _ path: String) throws -> DoctorReport.Saved {
        var target = StoreArguments()
        target.path = path
        return try target.writing { store in
            let lease = try store.beginBlobLease()
            defer { withExtendedLifetime(lease) {} }
            var (changes, passedOver) = try salvage.changes(after: end, for: store)
            var saved = DoctorReport.Saved(passedOver)
            while !changes.isEmpty, let error = try refusal(of: changes, store) {
                // Without what is refused by name the rest may be sound.
                let refused = Set(([error] + error.details).compactMap(\.context.objectID))
                    .filter { changes.objects[$0] != nil }
                guard !refused.isEmpty else {
                    saved.refusal = error.commandLineText
                    return saved
                }
                for id in refused { changes.objects[id] = nil }
                changes.pairs = changes.pairs.filter {
                    !refused.contains($0.key.source) && !refused.contains($0.key.target)
                }
                saved.refused += refused.count
            }
            saved.objects = changes.objects.values.count { $0.existsAfter }
            saved.deletions = changes.objects.values.count { !$0.existsAfter }
            saved.links = changes.pairs.count
            return saved
        }
    }

    /// Saves the changes.
    ///
    /// - Returns: why they cannot be; nil when they are saved.
    private func refusal(of changes: NetChanges, _ store: Store) throws -> StrataError? {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        context.transactionAuthor = "strata doctor"
        context.transactionReason = "what was sound behind a damaged place of the log"
        try context.apply(changes)
        do {
            try context.save()
            return nil
        } catch let error as StrataError {
            return error
        }
    }

    // MARK: Children

    /// Runs the work in a child; where a lost page ends that, a second one goes as far as the first came.
    private func runChildren() throws {
        let notes = try DoctorNotes()
        defer { notes.remove() }
        guard let first = GuardedRun.childEnd(notes.variables) else {
            throw StrataError(.persistentStoreOperation, "No child process can be made to read the damaged file.")
        }
        var number = try GuardedRun.signal(first)
        removeLeftovers()
        if let limit = notes.placeOfTheEnd {
            let variables = notes.variables.merging(limit) { $1 }
            if let second = GuardedRun.childEnd(variables) { number = try GuardedRun.signal(second) }
        }
        removeLeftovers()
        let problem = "\(notes.phase?.rawValue ?? "reading the store") \(GuardedRun.sentence(number))"
        Output.shared.line(json ? try JSONText.of(DoctorReport(problem)) : problem)
        throw ExitStatus.FoundProblem()
    }
}

extension DoctorCommand {
    /// Of a child that was ended by what it read.
    private func removeLeftovers() {
        if let into { Store.removeLeftovers(of: URL(filePath: into, directoryHint: .isDirectory)) }
    }
}

/// What a child that reads a damaged file leaves for its parent: how far it has come.
final class DoctorNotes {
    enum Phase: String, CaseIterable {
        case log = "reading the log"
        case views = "reading the views"
        case writing = "writing the new store"
        case rows = "reading rows behind the fault"
    }

    private static let limitKey = "STRATA_DOCTOR_LIMIT"
    private static let skipKey = "STRATA_DOCTOR_SKIP_VIEWS"
    private static let pagesKey = "STRATA_DOCTOR_ONLY_PAGES"
    private let path: String
    private let descriptor: Int32
    /// The last transaction that can be looked at.
    let limit: TransactionNumber?
    /// Whether looking at the views ends the process.
    let skipsViews: Bool
    /// Whether opening the file, or what it leads to, does not end the process.
    let opensFile: Bool

    /// For the parent.
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

    /// nil in the process that the person started.
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

    /// It reaches the file as soon as it is written, whatever becomes of the process.
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

    /// Variables for a second child that leaves out what ended the first; nil when that would end the same.
    var placeOfTheEnd: [String: String]? {
        switch phase {
        case .log: [Self.limitKey: "\(get(at: 8))"]
        case .views: [Self.skipKey: "1"]
        case .writing, nil: [Self.pagesKey: "1"]
        case .rows: nil
        }
    }
}

/// What the doctor found and did.
struct DoctorReport: Encodable {
    struct Lost: Encodable {
        let transaction: UInt64
        let time: String
        let author: String?
        let events: Int
    }

    struct Saved: Encodable {
        var objects = 0
        var deletions = 0
        var links = 0
        let damagedRecords: Int
        /// Objects that the rules of the model do not let stand.
        var refused = 0
        let cutLinks: Int
        let unreadableTables: [String]
        /// Why nothing could be.
        var refusal: String?

        init(_ passedOver: PassedOver) {
            damagedRecords = passedOver.records
            cutLinks = passedOver.links
            unreadableTables = passedOver.tables
        }
    }

    let transaction: UInt64
    let eventNumber: UInt64
    let time: String?
    let problem: String?
    let head: UInt64?
    let lost: [Lost]
    var viewProblems: Int?
    /// Of files that are missing or damaged, and of their counts.
    var largeValueProblems = 0
    var into: CopyText?
    var saved: Saved?

    /// Where nothing more could be found out.
    init(_ problem: String) {
        (transaction, eventNumber, time, head, lost) = (0, 0, nil, nil, [])
        self.problem = problem
    }

    init(_ finding: LogSalvage.Finding) {
        transaction = finding.end?.number.rawValue ?? 0
        eventNumber = finding.end?.lastEvent.rawValue ?? 0
        time = finding.end.map { ValueText.moment($0.date) }
        problem = finding.problem
        head = finding.head?.rawValue
        lost = finding.lost.map {
            Lost(
                transaction: $0.number.rawValue, time: ValueText.moment($0.date), author: $0.author,
                events: $0.eventCount)
        }
    }

    var sound: Bool { problem == nil && viewProblems == 0 && largeValueProblems == 0 }

    private enum CodingKeys: CodingKey {
        case sound, transaction, eventNumber, problem, head, lost, viewProblems, largeValueProblems, into, saved
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sound, forKey: .sound)
        try container.encode(transaction, forKey: .transaction)
        try container.encode(eventNumber, forKey: .eventNumber)
        try container.encode(problem, forKey: .problem)
        try container.encode(head, forKey: .head)
        try container.encode(lost, forKey: .lost)
        try container.encode(viewProblems, forKey: .viewProblems)
        try container.encode(largeValueProblems, forKey: .largeValueProblems)
        try container.encode(into, forKey: .into)
        try container.encode(saved, forKey: .saved)
    }

    // MARK: For people

    private static let mostShown = 20

    func print(json: Bool) throws {
        if json { return Output.shared.line(try JSONText.of(self)) }
        let style = Style.standard
        if let problem {
            Output.shared.line(
                transaction == 0
                    ? style("no transaction is sound", .red)
                    : "the log is sound through transaction \(transaction), event \(eventNumber) (\(time ?? "-"))")
            Output.shared.line(style(problem, .red))
            printLost(style)
        } else {
            Output.shared.line(
                "\(style("the log is sound", .green)): \(ValueText.count(Int(transaction), "transaction")), "
                    + ValueText.count(Int(eventNumber), "event"))
            printViews(style)
        }
        try into?.print(json: false)
        if let saved { printSaved(saved) }
    }

    private func printLost(_ style: Style) {
        let behind = head.map { Int($0) - Int(transaction) }
        if let behind, behind > 0 {
            Output.shared.line("lost: \(ValueText.count(behind, "transaction")), of which \(lost.count) can be named")
        }
        var columns = Columns([.right, .left, .left, .right], indent: "  ")
        for record in lost.prefix(Self.mostShown) {
            columns.add(
                "t\(record.transaction)", record.time, record.author ?? "-", ValueText.count(record.events, "event"))
        }
        columns.flush()
        if lost.count > Self.mostShown {
            Output.shared.line("  … and \(ValueText.count(lost.count - Self.mostShown)) more")
        }
    }

    private func printViews(_ style: Style) {
        switch viewProblems {
        case 0?: Output.shared.line("\(style("the views are sound", .green)): replaying the log gives them")
        case let count?:
            Output.shared.line(
                "\(style("the views are damaged", .red)) (\(ValueText.count(count, "problem"))): "
                    + "'strata verify' names them, 'strata rebuild' makes them anew from the log")
        case nil:
            Output.shared.line(
                "\(style("the views cannot be read", .red)): 'strata doctor --into' makes a new store of the log")
        }
        if largeValueProblems > 0 {
            Output.shared.line(
                "\(style("large values are lost or damaged", .red)) "
                    + "(\(ValueText.count(largeValueProblems, "problem"))): 'strata verify' names them; their files under "
                    + "blobs/ can only come back from a backup")
        }
    }

    private func printSaved(_ saved: Saved) {
        let passedOver =
            [
                (saved.damagedRecords, "damaged record"), (saved.refused, "object against the model's rules"),
                (saved.cutLinks, "link to a lost object"),
            ]
            .filter { $0.0 > 0 }.map { "\(ValueText.count($0.0)) × \($0.1)" }
            + saved.unreadableTables.map { "the rest of table \($0)" }
        if !passedOver.isEmpty {
            Output.shared.line("passed over behind the fault: \(passedOver.joined(separator: ", "))")
        }
        if let refusal = saved.refusal {
            return Output.shared.line("rows behind the fault could not be added: \(refusal)")
        }
        let parts = [(saved.objects, "object"), (saved.deletions, "deletion"), (saved.links, "link")].filter {
            $0.0 > 0
        }
        guard !parts.isEmpty else { return Output.shared.line("nothing behind the fault could be added") }
        let list = parts.map { ValueText.count($0.0, $0.1) }.joined(separator: ", ")
        Output.shared.line("added from behind the fault, without its history: \(list)")
    }
}
