import StrataModel
import StrataStore

/// The doctor's report: what is lost, and what was saved.
struct DoctorReport: Encodable {
    struct Lost: Encodable {
        let transaction: UInt64
        let time: String
        let author: String?
        let events: Int
    }

    /// A view that is not as in the damaged store.
    struct Difference: Encodable {
        let view: String
        let records: Int
        let first: String

        init(_ difference: ViewDifference) {
            view = difference.view
            records = difference.count
            first = difference.first
        }
    }

    struct Saved: Encodable {
        var objects = 0
        var deletions = 0
        var links = 0
        /// Links of the log that sound views do not have.
        var unlinked = 0
        let damagedRecords: Int
        /// Records about which the views contradict each other.
        let contradictions: Int
        /// Objects that break a rule of the model.
        var refused = 0
        let cutLinks: Int
        let unreadableTables: [String]
        /// The reason why nothing could be added; nil if something was.
        var refusal: String?
        /// The remaining differences from the views of the damaged store.
        var differences: [Difference] = []

        init(_ passedOver: PassedOver) {
            damagedRecords = passedOver.records
            cutLinks = passedOver.links
            contradictions = passedOver.contradictions
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
    /// Problems of the file's pages: what is free and what is in use contradict each other, or a page is damaged.
    var pageProblems = 0
    /// Problems of large values: missing or damaged files, or wrong counts.
    var largeValueProblems = 0
    var into: CopyText?
    var saved: Saved?

    /// A report of a problem that ended the work.
    init(_ problem: String) {
        (transaction, eventNumber, time, head, lost) = (0, 0, nil, nil, [])
        self.problem = problem
    }

    init(_ finding: LogSalvage.Finding) {
        transaction = finding.lastTransaction.rawValue
        eventNumber = finding.lastEvent.rawValue
        time = (finding.end?.date ?? finding.baseline?.date).map(ValueText.moment)
        problem = finding.problem
        head = finding.head?.rawValue
        lost = finding.lost.map {
            Lost(
                transaction: $0.number.rawValue, time: ValueText.moment($0.date), author: $0.author,
                events: $0.eventCount)
        }
    }

    var sound: Bool { problem == nil && viewProblems == 0 && pageProblems == 0 && largeValueProblems == 0 }

    private enum CodingKeys: CodingKey {
        case sound, transaction, eventNumber, problem, head, lost, viewProblems, pageProblems, largeValueProblems, into,
            saved
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
        try container.encode(pageProblems, forKey: .pageProblems)
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
            printLost()
        } else {
            Output.shared.line(
                "\(style("the log is sound", .green)): \(ValueText.count(Int(transaction), "transaction")), "
                    + ValueText.count(Int(eventNumber), "event"))
            printViews(style)
        }
        try into?.print(json: false)
        if let saved { printSaved(saved) }
    }

    private func printLost() {
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
        if pageProblems > 0 {
            Output.shared.line(
                "\(style("pages of the file are damaged", .red)) (\(ValueText.count(pageProblems, "problem"))): 'strata verify' "
                    + "names them; do not write to this store, 'strata doctor --into' makes a new one of the log")
        }
        switch viewProblems {
        case 0? where pageProblems > 0: break
        case 0?: Output.shared.line("\(style("the views are sound", .green)): a replay of the log gives the same")
        case let count?:
            Output.shared.line(
                "\(style("the views are damaged", .red)) (\(ValueText.count(count, "problem"))): "
                    + "'strata verify' names them, 'strata rebuild' makes them again from the log")
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
                (saved.damagedRecords, "damaged record"), (saved.refused, "object that breaks a rule of the model"),
                (saved.cutLinks, "link to a lost object"),
                (saved.contradictions, "record about which the views contradict each other"),
            ]
            .filter { $0.0 > 0 }.map { "\(ValueText.count($0.0)) × \($0.1)" }
            + saved.unreadableTables.map { "what cannot be read of table \($0)" }
        if !passedOver.isEmpty {
            Output.shared.line("left out after the damage: \(passedOver.joined(separator: ", "))")
        }
        if let refusal = saved.refusal {
            return Output.shared.line("rows from after the damage could not be added: \(refusal)")
        }
        let parts = [
            (saved.objects, "object"), (saved.deletions, "deletion"), (saved.links, "link"),
            (saved.unlinked, "removal of a link"),
        ].filter { $0.0 > 0 }
        printDifferences(saved.differences)
        guard !parts.isEmpty else { return Output.shared.line("nothing from after the damage could be added") }
        let list = parts.map { ValueText.count($0.0, $0.1, $0.1 == "removal of a link" ? "removals of links" : nil) }
        Output.shared.line("added from after the damage, without their history: \(list.joined(separator: ", "))")
    }

    private func printDifferences(_ differences: [Difference]) {
        for difference in differences {
            Output.shared.line(
                "not as in the views of the damaged store: "
                    + "\(ValueText.count(difference.records, "record")) of \(difference.view), the first: "
                    + difference.first)
        }
    }
}
