// The command `strata import`.

import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

extension RecordForm: ExpressibleByArgument {}
extension MissingTarget: ExpressibleByArgument {}

/// The policy of `import` for a record whose unique values another object has.
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

/// A number of bytes on the command line: `4096`, `64M`, `1G`.
struct ByteCount: ExpressibleByArgument {
    static let records = ByteCount(bytes: ByteSource.standardRecordLimit)

    let bytes: Int

    private init(bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        let units: [Character: Int] = ["k": 10, "K": 10, "M": 20, "G": 30]
        let shift = argument.last.flatMap { units[$0] }
        guard let number = Int(shift == nil ? argument[...] : argument.dropLast()), number > 0, number < 1 << 40 else {
            return nil
        }
        bytes = number << (shift ?? 0)
    }

    var defaultValueDescription: String { "\(bytes >> 20)M" }
}

/// `strata import`: imports the records of a file as objects.
struct ImportCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports the records of a file as objects, or a whole store of Core Data.",
        discussion: """
            Records come from a property list, JSON, NDJSON or CSV. The form follows from the file's name (.plist, .json, .ndjson, .jsonl, .csv, .tsv) or from --form. A \
            property list or JSON file holds an array of dictionaries. CSV names its columns in the first line; an \
            empty field without quotes means nil, or in a merge "keep the value". A file may be larger than memory, \
            except a property list, which is read whole. One record may have 64 MiB, or what --record-limit says (k, M \
            and G are units: 1G); a property list all together. Records are saved in transactions of --rows records, or \
            fewer where a record names one above it, or where they are as long together as one may be. Rules, uniqueness and both ends of relationships are checked as in \
            every save.

            A key goes to the property of the same name, ignoring case, spaces and underscores, or to the one that \
            --map names: --map 'Family name=surname' --map comment=. A relationship names its object by an attribute, \
            --map owner=familyMember.name, or by reference, Drawer/p3. A to-many takes a list; in a merge the object \
            then has exactly these members. Values are written as in 'strata insert'. Values of derived attributes are \
            skipped and computed. Dates are ISO 8601 or seconds since 1970, or what --dates names: iso, unix, unix-ms, \
            reference (seconds since 2001), or a pattern such as 'dd.MM.yyyy HH:mm' (UTC).

            If the import ends early (a bad record: exit code 1; Ctrl-C: 130), complete transactions stay. Correct the \
            record; the same command with --resume continues after them. The log records how many records are done, and \
            knows the file by its contents up to there.

            \(CoreDataArguments.help)

            --json prints {"records", "resumedAfter", "inserted", "merged", "skipped", "created", "leftOut", \
            "transactions", "seconds", "peakBytes"}; "created" counts the objects that --missing create made, "leftOut" \
            the links that --missing leave left out, "peakBytes" is the most \
            memory in use at a time. For Core Data it prints {"model", "rows", "entities": [{"name", "rows"}], "pairs", \
            "history": {"transactions", "chained", "partial", "notes"}, "resumed", "notes", "faults", \
            "faultCounts": {kind: number}, "seconds", "peakBytes"}, and with --verify {"equal", \
            "rows", "equalRows", "values", "equalValues", "links", "equalLinks", "derived", "equalDerived", \
            "danglingKeys", "additional", "differences", "differenceCount", "faultCounts"}.

            Examples:
                strata import BowTies.strata BowTie ties.csv --map 'Bow tie=name' \\
                    --map Drawer=drawer.label
                strata import BowTies.strata BowTie ties.csv \\
                    --map Drawer=drawer.label --missing create --on-clash merge
                strata import BowTies.strata BowTie ties.ndjson --rows 50000 --resume
                gunzip -c ties.ndjson.gz | strata import BowTies.strata BowTie - \\
                    --form ndjson
                strata import Shop.sqlite --into Shop.strata
                strata import Shop.sqlite --into Shop.strata --transformables codable
                strata import --verify Shop.sqlite Shop.strata
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The entity of the new objects.", valueName: "entity"), completion: .entityNames)
    var entityName: String?
    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file")) var path: String?
    @Option(help: ArgumentHelp("plist, json, ndjson or csv.", valueName: "form")) var form: RecordForm?
    @Option(help: ArgumentHelp("The property for a key of the file. Can be repeated.", valueName: "key=property"))
    var map: [String] = []
    @Flag(help: "Leave out keys without a property of the same name.") var ignoreUnknown = false
    @Option(help: ArgumentHelp("The form of dates.", valueName: "form")) var dates = "iso"
    @Option(help: ArgumentHelp("The separator of CSV fields; tab for a tab.", valueName: "character"))
    var separator: String?
    @Option(help: ArgumentHelp("The separator of a to-many's members in text.", valueName: "character"))
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
    @Option(help: ArgumentHelp("The most bytes of one record.", valueName: "size")) var recordLimit = ByteCount.records
    @Flag(help: "Continue an interrupted import of the same file.") var resume = false
    @OptionGroup var coreData: CoreDataArguments
    @OptionGroup var change: ChangeArguments

    private var entity: String { entityName ?? "" }
    private var file: String { path ?? "" }

    func validate() throws {
        if coreData.isAsked {
            if path == nil, RecordForm(path: store.path) != nil {
                throw ValidationError(
                    "\(store.path) has records, and --into makes a store of a file of Core Data. Records go into an entity "
                        + "of a store: strata import STORE ENTITY \(store.path). 'strata create' makes an empty store.")
            }
            if path != nil { throw ValidationError("For Core Data there is no third argument.") }
            return
        }
        if path == nil, Self.isDatabase(store.path) {
            throw ValidationError(
                "\(store.path) is a file of SQLite. To make a store of a file of Core Data, say where: strata import "
                    + "\(store.path) --into Name.strata")
        }
        if entityName == nil { throw ValidationError("Missing expected argument '<entity>'") }
        if path == nil { throw ValidationError("Missing expected argument '<file>'") }
        if rows < 1 { throw ValidationError("--rows is less than 1.") }
        if listSeparator.count != 1 { throw ValidationError("--list-separator is one character.") }
        if resume, file == "-" { throw ValidationError("--resume needs a file.") }
    }

    /// Whether a file begins as those of SQLite do.
    private static func isDatabase(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let start = Array("SQLite format 3".utf8)
        var bytes = [UInt8](repeating: 0, count: start.count)
        return read(file, &bytes, bytes.count) == bytes.count && bytes == start
    }

    func run() throws {
        if coreData.isAsked { return try coreData.run(store.path, entityName, json: change.json) }
        guard let form = form ?? RecordForm(path: file) else {
            guard access(file, F_OK) == 0 else { throw UsageError("There is no file \(file).") }
            throw UsageError("The name of \(file) does not show its form. Give --form plist, json, ndjson or csv.")
        }
        let mark = try ImportMark(file: file, entity: entity)
        if resume, mark.file == nil { throw UsageError("--resume needs a file; \(file) can be read only once.") }
        Interrupt.watch()
        let source = try ByteSource(file, recordLimit: recordLimit.bytes)
        try store.writing { store in
            let schema = try EntityName.find(entity, in: store)
            guard !schema.isAbstract else { throw UsageError("\(schema.name) is abstract and has no objects itself.") }
            let context = try change.context(over: store)
            let finder = ObjectFinder(store, context, dates: DateForm(dates))
            let maker = RowMaker(
                mapping: try FieldMapping(map, ignoresUnknown: ignoreUnknown, schema), finder: finder, missing: missing,
                separator: listSeparator.first ?? ";", keepsAtBlanks: onClash == .merge)
            var run = ImportRun(
                entity: schema, policy: onClash.policy, stepSize: rows, maker: maker, context: context, mark: mark)
            if resume {
                run.resume(after: try mark.recordsDone(in: store))
                if run.resumedAfter == 0 {
                    Output.printError(
                        "note: the log has no import of this file as \(schema.name); it begins at the first record")
                }
            }
            do {
                try run.run(try RecordReaders.reader(form, source, separator: try fieldSeparator()), source)
            } catch let error as StrataError where error.code == .corrupt {
                try run.report(json: change.json)
                throw error
            } catch let error as InputError {
                try run.report(json: change.json)
                throw StrataError(.managedObjectValidation, "\(file): \(error.message)\(advice(run))")
            } catch is ByteSource.Interrupted {
                // It came while the heading was read.
            }
            try run.report(json: change.json)
            if let code = Interrupt.exitCode { throw ExitCode(code) }
        }
    }

    /// How a file goes on that was corrected; empty if nothing of it is saved.
    private func advice(_ run: ImportRun) -> String {
        guard run.mark.file != nil, run.doneCount > 0 else { return "" }
        return " Correct it; the same command with --resume goes on after \(ValueText.count(run.doneCount, "record"))."
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
