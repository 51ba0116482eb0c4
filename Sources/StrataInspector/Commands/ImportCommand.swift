import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

extension RecordForm: ExpressibleByArgument {}
extension MissingTarget: ExpressibleByArgument {}

/// What becomes of a row whose unique values an object has already.
enum ClashPolicy: String, ExpressibleByArgument, CaseIterable {
    case error, skip, merge, replace

    var policy: UniquenessPolicy {
        switch self {
        case .error: .reject
        case .skip: .keep
        case .merge: .merge
        case .replace: .replace
        }
    }
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes objects of the records of a file: a property list, JSON, NDJSON or CSV.",
        discussion: """
            The form is told by the file's name (.plist, .json, .ndjson, .jsonl, .csv, .tsv) or --form. A property list or \
            JSON file holds an array of dictionaries; CSV names its columns in the first line, and what is empty there without \
            quotes is nil, or left as it is where a record is merged. A file may be larger than \
            memory, but for a property list, which is read whole. Records become objects past all memory, --rows of them \
            in a transaction, or fewer where a record names one above it; rules, uniqueness and both ends of \
            relationships are checked as in every save.

            Keys go to the property of the same name, where case, spaces and underscores do not count, or to the one that \
            --map says: --map 'Family name=surname' --map comment=. A relationship names its object by an attribute, \
            --map owner=familyMember.name, or by reference, Drawer/p3; a to-many takes a list, and an object that the record \
            is merged into has these members then. Values are as in \
            'strata insert', those of derived attributes are passed by and computed; dates are ISO 8601 or seconds since \
            1970, or what --dates says: iso, unix, unix-ms, reference (seconds since 2001), or a pattern such as \
            'dd.MM.yyyy HH:mm' (UTC).

            When it ends early (a bad record: exit code 1; Ctrl-C: 130), whole transactions stay, and the same command \
            with --resume goes on behind them, as the log remembers of the file's contents how many records are done.

            --json prints {"records", "resumedAfter", "inserted", "merged", "skipped", "created", "transactions", \
            "seconds", "peakBytes"}; "created" counts the objects that --missing create made, "peakBytes" is the most \
            memory that was in use.

            Examples:
                strata import BowTies.strata BowTie ties.csv --map 'Bow tie=name' \\
                    --map Drawer=drawer.label
                strata import BowTies.strata BowTie ties.csv \\
                    --map Drawer=drawer.label --missing create --on-clash merge
                strata import BowTies.strata BowTie ties.ndjson --rows 50000 --resume
                gunzip -c ties.ndjson.gz | strata import BowTies.strata BowTie - \\
                    --form ndjson
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The entity of the new objects.", valueName: "entity")) var entity: String
    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file")) var file: String
    @Option(help: ArgumentHelp("plist, json, ndjson or csv.", valueName: "form")) var form: RecordForm?
    @Option(help: ArgumentHelp("Where a key of the file goes. Can be repeated.", valueName: "key=property"))
    var map: [String] = []
    @Flag(help: "Leave out keys that no property is named like.") var ignoreUnknown = false
    @Option(help: ArgumentHelp("How dates are written.", valueName: "form")) var dates = "iso"
    @Option(help: ArgumentHelp("What parts the fields of CSV; tab for a tab.", valueName: "character"))
    var separator: String?
    @Option(help: ArgumentHelp("What parts the members of a to-many in text.", valueName: "character"))
    var listSeparator = ";"
    @Option(
        help: ArgumentHelp(
            "For a record whose unique values an object has: error, skip (the object stays), merge (it gets what the record "
                + "gives), or replace (its attributes become the record's).", valueName: "way"))
    var onClash = ClashPolicy.error
    @Option(
        help: ArgumentHelp(
            "For a relationship to an object that is not there: error, leave (empty), or create (the object, with the "
                + "attribute that names it).", valueName: "way"))
    var missing = MissingTarget.error
    @Option(help: ArgumentHelp("Records in a transaction.", valueName: "number")) var rows = 10_000
    @Flag(help: "Go on where an import of the same file ended.") var resume = false
    @OptionGroup var change: ChangeArguments

    func validate() throws {
        if rows < 1 { throw ValidationError("--rows is less than 1.") }
        if listSeparator.count != 1 { throw ValidationError("--list-separator is one character.") }
        if resume, file == "-" { throw ValidationError("--resume needs a file.") }
    }

    func run() throws {
        guard let form = form ?? RecordForm(path: file) else {
            throw UsageError("The name of \(file) does not tell its form. Say --form plist, json, ndjson or csv.")
        }
        let mark = try ImportMark(file: file, entity: entity)
        if resume, mark.file == nil { throw UsageError("--resume needs a file; \(file) can be read once.") }
        let source = try ByteSource(file)
        Interrupt.watch()
        try store.writing { store in
            let schema = try EntityName.find(entity, in: store)
            guard !schema.isAbstract else { throw UsageError("\(schema.name) is abstract and has no objects itself.") }
            let context = try change.context(over: store)
            let finder = ObjectFinder(store, context, dates: DateForm(dates))
            let maker = RowMaker(
                try FieldMapping(map, ignoresUnknown: ignoreUnknown, schema), finder, missing,
                separator: listSeparator.first ?? ";", keepsAtBlanks: onClash == .merge)
            var run = ImportRun(
                entity: schema, policy: onClash.policy, stepSize: rows, maker: maker, context: context, mark: mark)
            if resume { run.resumedAfter = try mark.recordsDone(in: store) }
            do {
                try run.run(try RecordReaders.reader(form, source, separator: try fieldSeparator()), source)
            } catch let error as StrataError where error.code == .corrupt {
                try run.report(json: change.json)
                throw error
            } catch let fault as InputFault {
                try run.report(json: change.json)
                throw StrataError(.managedObjectValidation, "\(file): \(fault.message)")
            }
            try run.report(json: change.json)
            if let code = Interrupt.exitCode { throw ExitCode(code) }
        }
    }

    private func fieldSeparator() throws -> UInt8 {
        guard let separator else { return file.lowercased().hasSuffix(".tsv") ? 0x09 : 0x2C }
        if separator == "tab" { return 0x09 }
        guard let byte = separator.utf8.first, separator.utf8.count == 1, byte != 0x22, byte != 0x0A, byte != 0x0D
        else {
            throw UsageError("--separator is one ASCII character, or tab.")
        }
        return byte
    }
}
