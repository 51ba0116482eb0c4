import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata tag`: lists the names of moments, gives a moment a name, or removes one.
struct TagCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Lists the names of moments, gives a moment a name, or removes one.",
        discussion: """
            Without NAME the tags are listed in the order of their moments. With NAME that tag is set to the newest state, \
            or to --at; a tag that exists moves. --remove removes it; the history stays. The log records who set and \
            removed tags. Every command that takes a moment takes a tag. \(Moment.help)

            --json prints {"tags": [{"name", "eventNumber", "transaction", "time"}]}: all tags, or the one that was set. \
            With --remove it prints {"removed": name}.

            Examples:
                strata tag BowTies.strata
                strata tag BowTies.strata 'before import' --author ann
                strata tag BowTies.strata release-2 --at '2 hours ago'
                strata tag BowTies.strata 'before import' --remove
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The tag.", valueName: "name")) var name: String?
    @Option(help: ArgumentHelp("The moment that the tag names; now by default.", valueName: "moment")) var at: String?
    @Flag(help: "Remove the tag.") var remove = false
    @Option(help: ArgumentHelp("The author for the log; your login name by default.", valueName: "name"))
    var author: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if name == nil, at != nil || remove { throw ValidationError("Name the tag.") }
        if remove, at != nil { throw ValidationError("--remove and --at do not go together.") }
    }

    func run() throws {
        guard let name else { return try store.reading { try report($0, try $0.tags()) } }
        let note = MaintenanceNote(author: try AuthorName.of(author))
        try store.writing { store in
            if remove {
                guard try store.removeTag(name, note) else {
                    let known = NameSuggestions(try store.tags().keys.sorted())
                    throw UsageError("The store has no tag '\(name)'.\(known.hint(for: name))")
                }
                return try json ? JSONText.print(["removed": name]) : Output.shared.line("removed \(name)")
            }
            try Moment.checkName(ofTag: name)
            let eventNumber = try at.map { try Moment.eventNumber($0, in: store) } ?? store.head()
            try store.setTag(name, at: eventNumber, note)
            try report(store, [name: eventNumber])
        }
    }

    private func report(_ store: Store, _ tags: [String: EventNumber]) throws {
        let tags = try tags.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { name, eventNumber in
            let transaction = try transaction(eventNumber, store)
            return (name: name, eventNumber: eventNumber, number: transaction?.number, date: transaction?.date)
        }
        if json {
            return try JSONText.print([
                "tags": tags.map { tag -> JSONObject in
                    [
                        "name": tag.name, "eventNumber": tag.eventNumber.rawValue,
                        "transaction": JSONObject.orNull(tag.number?.rawValue),
                        "time": JSONObject.orNull(tag.date.map(ValueText.moment)),
                    ]
                }
            ])
        }
        if tags.isEmpty { return Output.shared.line("no tag") }
        var columns = Columns([.left, .right, .left, .left], isFirm: [false, true, true, true], cutsToTerminal: true)
        columns.add(["tag", "event", "transaction", "time"].map { .init($0, .bold) })
        for tag in tags {
            columns.add(
                tag.name, "\(tag.eventNumber)", tag.number.map { "t\($0)" } ?? "-",
                tag.date.map(ValueText.moment) ?? "-")
        }
        columns.flush()
    }

    /// The transaction of a tag. The baseline has those of the last one before the cut, which the log dropped.
    private func transaction(
        _ eventNumber: EventNumber, _ store: Store
    ) throws -> (number: TransactionNumber, date: Date)? {
        if let record = try store.transaction(containing: eventNumber) { return (record.number, record.date) }
        guard let baseline = try store.baseline(), baseline.event == eventNumber else { return nil }
        return (baseline.transaction, baseline.date)
    }
}
