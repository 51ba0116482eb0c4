import ArgumentParser
import StrataModel
import StrataStore

/// `strata verify`: checks the whole store and lists its problems, one a line.
struct VerifyCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks the whole store and lists its problems, one a line.",
        discussion: """
            Checks every page of the file, and that each is either in use or free; the header; every event and transaction \
            with checksums and the chain of digests; every object's chain; rows, indexes, links, counts, tombstones and large \
            values. Then it replays the log into a temporary store and compares the result with the views, record by record, and \
            on the way the values before each event with those that the event records. The store is only read. --quick checks \
            pages, the log and counts. --pages only compares each page with its checksum, at --pace megabytes a second at \
            most, beside whatever uses the store. The last line says what was read, and how long it took. If the log is sound, \
            'strata rebuild' mends the rest. If it is not, restore a backup, or try 'strata doctor'. Where values were erased it \
            says so, and who erased them and why.

            --json prints {"sound", "depth", "head", "transactions", "events", "objects", "problemCount", \
            "problems": [{"kind", "location", "message"}], "thinnedEvents", "thinnings": [{"transaction", "time", "author", \
            "reason", "entities", "through"}], "thinningUnfinished", "erasedEvents", "erasures": [{"transaction", "time", "author", \
            "reason", "objects", "events"}], "erasureUnfinished", "goneLinks", "digests": {table: hexadecimal}, "uncheckedViews", "pages", \
            "bytes", "records", "seconds"}; with --pages {"sound", "pages", "hasChecksums", "problems", "seconds"}.

            Examples:
                strata verify BowTies.strata
                strata verify BowTies.strata --quick --json
                strata verify BowTies.strata --pages --pace 8
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Only pages, head, log and counts.") var quick = false
    @Flag(help: "Only the pages and their checksums.") var pages = false
    @Option(help: "With --pages: how many megabytes to read in a second at most.") var pace: Double?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if pages, quick { throw ValidationError("--pages and --quick do not go together.") }
        if pace != nil, !pages { throw ValidationError("--pace needs --pages.") }
        if let pace, !(pace > 0) { throw ValidationError("--pace is not above 0.") }
    }

    func run() throws {
        try GuardedRun.enter { message in
            let problem = VerificationText.Problem(kind: "table", location: "data.mdb", message: message)
            Output.shared.line(
                json
                    ? try JSONText.of(VerificationText(quick ? .quick : .full, problem))
                    : "\(problem.kind): \(problem.location): \(message)")
        }
        if pages { return try comparePages() }
        let progress = ProgressLine()
        let report = try store.reading { store in
            defer { progress.finish() }
            return try store.verify(quick ? .quick : .full, progress: progress.handler)
        }
        if json {
            Output.shared.line(try JSONText.of(VerificationText(report)))
        } else {
            Self.print(report)
        }
        if !report.isSound { throw ExitStatus.FoundProblem() }
    }

    private func comparePages() throws {
        let report = try store.reading { try $0.scrub(pace: pace.map { Int(max(4096, min($0 * 1e6, 1e15))) }) }
        if json {
            Output.shared.line(try JSONText.of(PagesText(report)))
        } else {
            for problem in report.problems { Output.shared.line(Style.standard(problem.description, .red)) }
            let pages = ValueText.count(report.pageCount, "page")
            let what =
                report.hasSums ? "compared with their checksums" : "without checksums; their structure was looked at"
            let outcome = report.problems.isEmpty ? "sound" : ValueText.count(report.problems.count, "problem")
            Output.shared.line("\(outcome): \(pages) \(what) in \(ValueText.duration(report.duration))")
        }
        if !report.problems.isEmpty { throw ExitStatus.FoundProblem() }
    }

    static func print(_ report: VerificationReport) {
        let style = Style.standard
        for problem in report.problems { Output.shared.line(style(problem.description, .red)) }
        let hidden = report.problemCount - report.problems.count
        if hidden > 0 { Output.shared.line("and \(ValueText.count(hidden)) more") }
        let looked =
            "\(ValueText.count(report.transactionCount, "transaction")), \(ValueText.count(report.eventCount, "event")), "
            + ValueText.count(report.objectCount, "object")
        if report.isSound {
            let what =
                report.depth == .full ? "; a replay of the log gives the same views, byte for byte" : " (a quick look)"
            Output.shared.line("\(style("sound", .green)): \(looked)\(what)")
        } else {
            Output.shared.line("\(style(ValueText.count(report.problemCount, "problem"), .red)): \(looked)")
        }
        for erasure in report.erasures {
            let author = erasure.transaction?.author.map { " by \(ValueText.harmless($0))" } ?? ""
            let reason = erasure.transaction?.reason.map { ": \(ValueText.harmless($0))" } ?? ""
            let time = erasure.transaction.map { "on \(ValueText.moment($0.date))" } ?? "before the kept history"
            Output.shared.line(
                "erased \(time)\(author): "
                    + "\(ValueText.count(erasure.record.objects.count, "object")), "
                    + "\(ValueText.count(erasure.record.eventCount, "event"))\(reason)")
        }
        for view in report.uncheckedViews {
            Output.shared.line(
                "the view \(ValueText.harmless(view)) was not compared: a type of an app makes it, which this tool does not "
                    + "have; verify it in the app")
        }
        for thinning in report.thinnings {
            let author = thinning.transaction?.author.map { " by \(ValueText.harmless($0))" } ?? ""
            let reason = thinning.transaction?.reason.map { ": \(ValueText.harmless($0))" } ?? ""
            let time = thinning.transaction.map { "on \(ValueText.moment($0.date))" } ?? "before the kept history"
            let names = thinning.entities.map { ValueText.harmless($0) }.joined(separator: ", ")
            Output.shared.line("thinned \(time)\(author): \(names) through event \(thinning.cut)\(reason)")
        }
        if report.thinnedEventCount > 0 {
            let events = ValueText.count(report.thinnedEventCount, "event")
            Output.shared.line("\(events) lost values that later ones replace")
        }
        if report.goneLinkCount > 0 {
            let links = ValueText.count(report.goneLinkCount, "link")
            Output.shared.line(
                "\(links) to objects whose entity has left the model or lost the relationship: the next opening for writing "
                    + (report.goneLinkCount == 1 ? "removes it" : "removes them"))
        }
        if report.hasUnfinishedThinning {
            Output.shared.line(
                "a thinning was interrupted, and values may be left: run 'strata history trim --entity' again")
        }
        if report.hasUnfinishedErasure {
            Output.shared.line(
                "an erasure is not finished, and bytes of values may be left: run 'strata erase' without objects")
        }
        Output.shared.line(
            "read \(ValueText.count(report.read.pageCount, "page")) (\(ValueText.size(UInt64(report.read.sizeInBytes)))), "
                + "\(ValueText.count(report.read.recordCount, "record")) in \(ValueText.duration(report.duration))")
    }
}

/// A look at the pages as JSON.
private struct PagesText: Encodable {
    let sound: Bool
    let pages: Int
    let hasChecksums: Bool
    let problems: [VerificationText.Problem]
    let seconds: Double

    init(_ report: ScrubReport) {
        sound = report.problems.isEmpty
        pages = report.pageCount
        hasChecksums = report.hasSums
        problems = report.problems.map { .init($0) }
        seconds = report.duration / .seconds(1)
    }
}

/// The report as JSON.
private struct VerificationText: Encodable {
    struct Problem: Encodable {
        let kind: String
        let location: String
        let message: String

        init(kind: String, location: String, message: String) {
            self.kind = kind
            self.location = location
            self.message = message
        }

        init(_ problem: VerificationProblem) {
            self.init(kind: problem.kind.rawValue, location: problem.location, message: problem.message)
        }
    }

    struct ErasedText: Encodable {
        let transaction: UInt64?
        let time: String?
        let author: String?
        let reason: String?
        let objects: Int
        let events: Int

        init(_ erasure: VerifiedErasure) {
            transaction = erasure.transaction?.number.rawValue
            time = erasure.transaction.map { ValueText.moment($0.date) }
            author = erasure.transaction?.author
            reason = erasure.transaction?.reason
            objects = erasure.record.objects.count
            events = erasure.record.eventCount
        }
    }

    struct ThinnedText: Encodable {
        let transaction: UInt64?
        let time: String?
        let author: String?
        let reason: String?
        let entities: [String]
        let through: UInt64

        init(_ thinning: VerifiedThinning) {
            transaction = thinning.transaction?.number.rawValue
            time = thinning.transaction.map { ValueText.moment($0.date) }
            author = thinning.transaction?.author
            reason = thinning.transaction?.reason
            entities = thinning.entities
            through = thinning.cut.rawValue
        }
    }

    let sound: Bool
    let depth: String
    let head: UInt64
    let transactions: Int
    let events: Int
    let objects: Int
    let problemCount: Int
    let problems: [Problem]
    let thinnedEvents: Int
    let thinnings: [ThinnedText]
    let thinningUnfinished: Bool
    let erasedEvents: Int
    let erasures: [ErasedText]
    let erasureUnfinished: Bool
    let goneLinks: Int
    let digests: [String: String]
    let uncheckedViews: [String]
    let pages: Int
    let bytes: Int
    let records: Int
    let seconds: Double

    /// A report for a verification that a signal ended.
    init(_ depth: VerificationDepth, _ problem: Problem) {
        sound = false
        self.depth = depth.rawValue
        (head, transactions, events, objects) = (0, 0, 0, 0)
        problemCount = 1
        problems = [problem]
        thinnedEvents = 0
        thinnings = []
        thinningUnfinished = false
        erasedEvents = 0
        erasures = []
        erasureUnfinished = false
        goneLinks = 0
        digests = [:]
        uncheckedViews = []
        (pages, bytes, records) = (0, 0, 0)
        seconds = 0
    }

    init(_ report: VerificationReport) {
        sound = report.isSound
        depth = report.depth.rawValue
        head = report.head.rawValue
        transactions = report.transactionCount
        events = report.eventCount
        objects = report.objectCount
        problemCount = report.problemCount
        problems = report.problems.map { Problem($0) }
        thinnedEvents = report.thinnedEventCount
        thinnings = report.thinnings.map { ThinnedText($0) }
        thinningUnfinished = report.hasUnfinishedThinning
        erasedEvents = report.erasedEventCount
        erasures = report.erasures.map { ErasedText($0) }
        erasureUnfinished = report.hasUnfinishedErasure
        goneLinks = report.goneLinkCount
        digests = Dictionary(report.digests.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        uncheckedViews = report.uncheckedViews
        (pages, bytes, records) = (report.read.pageCount, report.read.sizeInBytes, report.read.recordCount)
        seconds = report.duration / .seconds(1)
    }
}
