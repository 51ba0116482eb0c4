// The command `strata export`.

import ArgumentParser
import Foundation
import StrataCoreData
import StrataModel
import StrataStore

extension ExportForm: ExpressibleByArgument {}

/// `strata export`: writes objects to a file, or events as CloudEvents.
struct ExportCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract:
            "Writes objects to a property list, JSON, NDJSON or CSV, events as CloudEvents, or all for Core Data.",
        discussion: """
            'strata import' reads exports without loss: data is base64, dates are ISO 8601 with all digits, composites \
            are JSON objects, and nil is left out (in a property list it is an empty dictionary where the model has a \
            default). Without --columns all attributes and to-ones are written. A to-one is named by an attribute that \
            the model says is unique there (drawer.label) if every object has one, else by reference (Drawer/p3). Name \
            a to-many to have it: 'name, tags.label'. In CSV its members are separated by semicolons, and a name with \
            a semicolon is refused. A file appears when it is complete; devices and pipes are written directly. - is \
            standard output, where the form is NDJSON unless --form names another. \(Moment.help)

            json is an array with an object for each row, ndjson an object on each line, with keys in the order of the \
            columns. cloudevents is an event on each line, as CloudEvents 1.0 in JSON: "type" is strata.inserted, \
            strata.updated and so on, "subject" the object, "id" the event number, "data" {"values"}, {"changes": \
            {property: {"before", "after"}}} or {"relationship", "source", "target"}. With --form coredata, --json \
            prints {"rows", "pairs", "notes"}.

            coredata is a SQLite file in the form of Core Data, with the model and the newest objects and links, but \
            without history: 'strata import' takes it back equal. Objects that came from such a file have the keys \
            that they had there. Apple's own reader could not be tried. Values that the file cannot hold are noted.

            Examples:
                strata export BowTies.strata BowTie ties.csv --where 'rating > 4' \\
                    --sort -rating
                strata export BowTies.strata BowTie \\
                    --columns 'name, drawer.label, tags.label' --at t12
                strata export BowTies.strata events.ndjson --form cloudevents \\
                    --since '2 hours ago'
                strata export BowTies.strata --form coredata BowTies.sqlite
            """)

    @OptionGroup var store: StoreArguments
    @Argument(
        help: ArgumentHelp("The entity; none for coredata, and cloudevents may do without.", valueName: "entity"),
        completion: .entityNames)
    var entity: String?
    @Argument(help: ArgumentHelp("The file, or - for standard output.", valueName: "file")) var file = "-"
    @Option(help: ArgumentHelp("plist, json, ndjson, csv, cloudevents or coredata.", valueName: "form"))
    var form: ExportForm?
    @Flag(help: "The same as --form json; for coredata, print the result as JSON.") var json = false
    @OptionGroup var condition: ConditionArguments
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Key paths; - before one sorts it descending.", valueName: "keys"),
        completion: .keyPaths)
    var sort: String?
    @Option(
        parsing: .unconditional, help: ArgumentHelp("What to write for each object.", valueName: "list"),
        completion: .keyPaths)
    var columns: String?
    @Option(help: ArgumentHelp("Write the state of this moment.", valueName: "moment")) var at: String?
    @Option(help: "For cloudevents: nothing before this moment.") var since: String?
    @Option(help: "For cloudevents: nothing after this moment.") var until: String?

    func run() throws {
        let form = form ?? (json ? .json : ExportForm(path: file) ?? .ndjson)
        if form == .coredata { return try exportCoreData() }
        try store.reading { store in
            let (entity, file) = names(form, store)
            let target = try ExportTarget(file)
            let count =
                try form == .cloudevents
                ? exportEvents(entity, store, target) : exportObjects(entity, form, store, target)
            if file != "-" {
                let noun = form == .cloudevents ? "event" : "object"
                Output.shared.line("\(file): \(ValueText.count(count, noun))")
            }
        }
    }

    private func exportCoreData() throws {
        guard let path = entity, file == "-", path != "-" else {
            throw UsageError("--form coredata takes the store and the file, and no entity.")
        }
        guard condition.text == nil, sort == nil, columns == nil, at == nil, since == nil, until == nil else {
            throw UsageError("--form coredata writes the whole newest state.")
        }
        let target = URL(filePath: path)
        Interrupt.endAtOnce {
            CoreDataExporter.abandon(target)
            return "nothing was written to \(path)."
        }
        let progress = ProgressLine()
        defer { progress.finish() }
        let report = try store.reading { store in
            try CoreDataExporter.run(store, to: target, progress: progress.handler)
        }
        Interrupt.finish()
        progress.finish()
        if json {
            return try JSONText.print(["rows": report.rows, "pairs": report.pairs, "notes": report.notes])
        }
        for note in report.notes { Output.printError("note: \(note)") }
        Output.shared.line(
            "\(path): \(ValueText.count(report.rows, "object")), \(ValueText.count(report.pairs, "pair"))")
    }

    /// Returns the entity and the file. For CloudEvents the entity may be left out: a single argument that is not an
    /// entity names the file.
    private func names(_ form: ExportForm, _ store: Store) -> (entity: String?, file: String) {
        guard form == .cloudevents, file == "-", let entity, entity.contains(where: { $0 == "." || $0 == "/" }),
            store.schema.entity(named: entity) == nil
        else { return (entity, file) }
        return (nil, entity)
    }

    private func exportObjects(
        _ entity: String?, _ form: ExportForm, _ store: Store, _ target: ExportTarget
    ) throws -> Int {
        guard let entity else { throw UsageError("Name the entity whose objects are to be written.") }
        guard since == nil, until == nil else { throw UsageError("--since and --until go with --form cloudevents.") }
        let moment = try StoreMoment(at, in: store)
        let schema = try moment.entity(named: entity)
        let objects = StoreRequest(
            entityID: schema.id,
            predicate: try condition.predicate(of: schema, at: moment, in: store),
            sort: try moment.propertyNames.order(SortText.parse(sort), of: schema))
        let columns = try ExportColumns.columns(columns, of: schema, moment) { entity, key in
            let nameless = StoreRequest(entityID: entity, predicate: .isNil(key))
            return try moment.read(store) { try $0.count(nameless) } == 0
        }
        try ListText.checkNoneTwice(columns.map(\.name))
        let secrets = try EncryptedFiles(columns, of: schema, moment.schema, store)
        let exact = ExactValue(store: store, names: try store.recordedNames())
        let defaults = columns.map(\.name).filter { schema.property(named: $0)?.attribute?.defaultValue != nil }
        var writer = try ExportWriter(form, columns, withDefault: Set(defaults), exact, target)
        let progress = ProgressLine(besideOutput: target.isStandardOutput)
        defer { progress.finish() }
        let request = RowsRequest(objects: objects, columns: columns + secrets.moreColumns)
        try RowStream(request, of: schema, at: moment, in: store).forEach(progress.handler) { row in
            try writer.row(try secrets.decrypted(row))
        }
        return try writer.finish()
    }

    private func exportEvents(_ entity: String?, _ store: Store, _ target: ExportTarget) throws -> Int {
        guard condition.text == nil, sort == nil, columns == nil, at == nil else {
            throw UsageError("Events are chosen by entity, --since and --until.")
        }
        var filter = LogFilter()
        if let entity { filter.entities = try EntityName.numbersEver(of: entity, in: store) }
        if let since { filter.first = try Moment.firstEvent(since, in: store) }
        filter.last = try until.map { try Moment.lastEvent($0, in: store) } ?? store.head()
        let text = CloudEventText(store, try store.recordedNames())
        let progress = ProgressLine(besideOutput: target.isStandardOutput)
        let handler = progress.handler
        defer { progress.finish() }
        let total = Int(max(filter.last.rawValue, filter.first.rawValue) - filter.first.rawValue) + 1
        var count = 0
        try LogWalk(store: store, filter: filter, order: .oldestFirst).run { event, transaction in
            if count % 1000 == 0 {
                let done = Int(event.eventNumber.rawValue - filter.first.rawValue)
                handler(StoreProgress(phase: "events", done: done, total: total))
            }
            try target.write(try text.line(event, transaction) + "\n")
            count += 1
        }
        try target.finish()
        return count
    }
}
