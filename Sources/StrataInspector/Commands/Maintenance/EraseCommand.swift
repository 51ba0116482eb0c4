import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataXcode

/// `strata erase`: removes objects, or values of theirs, from the store and from all of its history.
struct EraseCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Removes objects, or values of theirs, from the store and from all of its history.",
        discussion: """
            The objects are deleted by the delete rules of the model, then every copy of their values is removed: rows, \
            indexes, events, large values, statistics, views. The bytes that held them are overwritten. Events keep their \
            place and say that they were erased; 'strata log' shows who erased what and why, and 'strata verify' checks \
            it. An object that is deleted already can be erased, too. Erasing cannot be undone. Backups and exported files \
            have copies of their own: where values are encrypted under the keys of subjects, an erasure destroys the keys \
            of the erased objects and so reaches all copies; it needs --key-file and --subject-keys. --list writes the erasures of the store to a file that 'strata restore --erasures' \
            applies.

            --values-only erases only these attributes: they become nil, or their default, now and in all of the past. \
            --with-related also erases the objects that the relationship leads to. --dry-run only says what would be \
            erased. Without objects the command finishes an erasure that had to wait for others.

            --json prints {"dryRun", "objects": [object], "deleted", "deletedOnly": [object], "events", "transactions", "files", "keys", \
            "missingKeys", "removedCopies": [path], "waiting": [text], "seconds"}; with --list {"erasures", "path"}.

            Examples:
                strata erase BowTies.strata Person/p7 \\
                    --reason 'asked for it on 20 November'
                strata erase BowTies.strata Person/p7 --values-only name,email --dry-run
                strata erase BowTies.strata Person --where 'lastSeen < 2020-01-01' \\
                    --with-related orders
                strata erase BowTies.strata --list erasures.json
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("Objects, or an entity with --where or --all.", valueName: "word"))
    var words: [String] = []
    @OptionGroup var targets: TargetArguments
    @Option(help: ArgumentHelp("Attributes to erase, separated by commas.", valueName: "names"))
    var valuesOnly: String?
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Relationships whose objects are erased with them.", valueName: "name"))
    var withRelated: [String] = []
    @Option(help: ArgumentHelp("The author for the log; your login name by default.", valueName: "name"))
    var author: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The reason for the log.", valueName: "text"))
    var reason: String?
    @Option(help: ArgumentHelp("Only write the erasures of the store to this file.", valueName: "file"))
    var list: String?
    @Flag(help: "Only say what would be erased.") var dryRun = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard list == nil || words.isEmpty else { throw ValidationError("--list takes no objects.") }
        if let valuesOnly, Self.names(in: valuesOnly).isEmpty {
            throw ValidationError("--values-only names no attribute. Without it objects are erased whole.")
        }
        guard list == nil || !dryRun else { throw ValidationError("--list and --dry-run do not go together.") }
    }

    func run() throws {
        if let list { return try writeList(to: list) }
        let progress = ProgressLine()
        try store.writing(progress.handler) { store in
            defer { progress.finish() }
            if words.isEmpty, !targets.all, targets.condition.text == nil {
                if dryRun { throw UsageError("Name at least one object.") }
                return try print(try store.finishErasures(progress: progress.handler) ?? ErasureReport(), store)
            }
            var metadata: [String: String] = [:]
            metadata[HistoryTransaction.reasonKey] = reason
            let names = valuesOnly.map(Self.names)
            let request = ErasureRequest(
                objects: try objects(store), attributes: names,
                note: MaintenanceNote(author: try AuthorName.of(author), metadata: metadata))
            let plan = try store.planErasure(request)
            try refuseUnknown(request.objects, plan, store)
            let report = try dryRun ? plan : store.erase(request, progress: progress.handler)
            try print(report, store)
        }
    }

    private static func names(in text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Nothing is erased if one of the objects has never been in the store: its name may be wrong.
    private func refuseUnknown(_ ids: [ObjectID], _ plan: ErasureReport, _ store: Store) throws {
        let unknown = Set(ids).subtracting(plan.objects)
        guard !unknown.isEmpty else { return }
        let names = try store.recordedNames()
        let listed = unknown.sorted().map { names.name(of: $0) }.joined(separator: ", ")
        throw StrataError(.referentialIntegrity, "There is no \(listed), and never was; nothing was erased.")
    }

    private func objects(_ store: Store) throws -> [ObjectID] {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        var ids: Set<ObjectID> = []
        // A deleted object has no row, so it can only be named.
        let isNamed = targets.condition.text == nil && !targets.all
        if isNamed {
            for word in words {
                guard word.contains("/") else {
                    throw UsageError("'\(word)' names no object. An entity needs --where FORMAT, or --all.")
                }
                ids.insert(try ObjectReference.parse(word, in: store, past: true))
            }
        } else {
            ids = Set(try targets.objects(words, store, context).map(\.objectID))
        }
        var related: Set<ObjectID> = []
        for name in withRelated {
            for id in ids {
                do {
                    let object = try context.existingObject(with: id)
                    related.formUnion(try object.objectIDs(forRelationshipNamed: name))
                } catch let error as StrataError where error.code == .referentialIntegrity {
                    // A deleted object has no related objects.
                    continue
                }
            }
        }
        return ids.union(related).sorted()
    }

    private func print(_ report: ErasureReport, _ store: Store) throws {
        let names = try store.recordedNames()
        let found = report.objects.sorted().map { names.name(of: $0) }
        if json {
            return try JSONText.print([
                "dryRun": dryRun, "objects": found, "deleted": report.deletedCount,
                "deletedOnly": report.deletedOthers.map { names.name(of: $0) }, "events": report.eventCount,
                "transactions": report.transactionCount, "files": report.fileCount, "keys": report.destroyedKeyCount,
                "missingKeys": report.missingKeyCount, "removedCopies": report.removedCopies,
                "waiting": report.waiting,
                "seconds": report.duration / .seconds(1),
            ])
        }
        for name in found { Output.shared.line(name) }
        let events = ValueText.count(report.eventCount, "event"),
            deleted = ValueText.count(report.deletedCount, "object")
        let counts = "\(ValueText.count(found.count, "object")) in \(events), \(deleted) deleted now"
        for id in report.deletedOthers {
            Output.shared.line(
                "\(names.name(of: id)) is deleted by the delete rules, and its values stay in the past: "
                    + "--with-related erases it, too")
        }
        if report.destroyedKeyCount > 0 {
            let keys = ValueText.count(report.destroyedKeyCount, "key")
            Output.shared.line(dryRun ? "would destroy \(keys) of subjects" : "destroyed \(keys) of subjects")
        }
        if report.missingKeyCount > 0 {
            Output.shared.line(
                "\(ValueText.count(report.missingKeyCount, "subject")) had no key there: if values were ever written for them, "
                    + "these are not the keys that the store was written with, and copies elsewhere can still be read; "
                    + "erase again with the right ones")
        }
        for id in report.droppedObjects {
            Output.shared.line(
                "\(names.name(of: id)) is not in the history that is kept; the erasure is noted for backups and targets"
            )
        }
        if dryRun { return Output.shared.line("would erase \(counts)") }
        Output.shared.line("erased \(counts) in \(ValueText.duration(report.duration))")
        for path in report.removedCopies { Output.shared.line("removed \(path), which had the values") }
        for reason in report.waiting {
            Output.shared.line("bytes are left, because \(reason): run 'strata erase' without objects later")
        }
    }

    private func writeList(to path: String) throws {
        let erasures = try store.reading { store in
            let names = try store.recordedNames()
            return try store.erasures().map { Erasure($0, names) }
        }
        try ErasureFile.write(erasures, to: path)
        if json { return try JSONText.print(["erasures": erasures.count, "path": path]) }
        Output.shared.line("\(ValueText.count(erasures.count, "erasure")) written to \(path)")
    }
}

/// A list of erasures in a file, as JSON.
enum ErasureFile {
    static func write(_ erasures: [Erasure], to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        let data = try encoder.encode(erasures)
        var files = NewFiles()
        do {
            try files.write(data, to: path)
            try files.finish()
        } catch {
            files.abandon()
            throw error.ofWriting(path)
        }
    }

    static func read(_ path: String) throws -> [Erasure] {
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode([Erasure].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw StrataError(
                .persistentStoreOperation,
                "\(path) cannot be read as a list of erasures. 'strata erase --list' writes one.",
                cause: error)
        }
    }
}
