import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataXcode

/// `strata migrate`: migrates a store to another model, or shows what that takes.
struct MigrateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to another model, or shows what that takes.",
        discussion: """
            NEW is an .xcdatamodeld, an .xcdatamodel, or another store. Every object is checked before anything is \
            written. If some do not fit the model, nothing changes, they are named, and the exit code is 1. An \
            interrupted migration continues when the same command is given again.

            --set 'Order.status="pending"' gives a value to objects that have none: because the property is new or now \
            required, or because its old value cannot be converted. --delete-misfits Order deletes the objects of the \
            entity that do not fit, by the delete rules of the store's model. --rules reads such rules from a file, \
            one a line: set Order.status="pending", or delete-misfits Order; a line that begins with # is a comment. \
            --mapping reads the renames and constants of a Core Data mapping model (.xcmappingmodel); what it says beyond that, such as \
            code, is printed and not done.

            --plan shows the changes of the model, with the number of objects to be read or rewritten and of values to \
            be hidden, and the views of 'strata views create' that go along with a rename or are dropped. --dry-run \
            also checks every object, and counts those that do not fit. Both only read.

            A model that the store has left behind is refused unless --allow-downgrade is given.

            --json prints {"path", "model", "migrated", "downgrade", "steps": [{"kind", "work", "entity", "key", \
            "message", "objects", "hidden"}], "problems": [{"entity", "key", "message", "objects", "examples", \
            "deleted"}], "deletes", "notes"}; "deleted" says that a rule deletes these objects.

            Examples:
                strata migrate Shop.strata --model Shop.xcdatamodeld --dry-run
                strata migrate Shop.strata --model Shop.xcdatamodeld \\
                    --set 'Order.status="pending"' --delete-misfits Draft
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("The new model.", valueName: "new")) var model: String
    @Option(help: ArgumentHelp("The version of the model; by default the current one.", valueName: "version"))
    var modelVersion: String?
    @Option(
        help: ArgumentHelp("Set this where there is no value. Can be repeated.", valueName: "entity.property=value"))
    var set: [String] = []
    @Option(help: ArgumentHelp("Delete objects of it that do not fit. Can be repeated.", valueName: "entity"))
    var deleteMisfits: [String] = []
    @Option(help: ArgumentHelp("Read rules from a file.", valueName: "file")) var rules: String?
    @Option(help: ArgumentHelp("Read a mapping model.", valueName: "xcmappingmodel")) var mapping: String?
    @Flag(help: "Only show the changes of the model.") var plan = false
    @Flag(help: "Only show the changes, and check every object.") var dryRun = false
    @Flag(help: "Go back to a model that the store has left behind.") var allowDowngrade = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.checkIsThere()
        let input = try ModelInput.load(model, version: modelVersion)
        var target = try input.model()
        var report = MigrationReport(path: store.path, model: input.name)
        // A store whose migration or rebuild was interrupted cannot be looked into; loading finishes either.
        let isInterrupted = try !plan && !dryRun && store.hasInterruptedChange()
        var mapped: [MigrationRule] = []
        if let mapping {
            let file = try XcodeMappingModel(contentsOf: URL(filePath: mapping))
            let old = isInterrupted ? nil : try store.reading { $0.schema.model }
            let migration = try file.migration(from: old, to: target)
            (target, mapped, report.notes) = (migration.model, migration.rules, migration.notes)
        }
        var text = MigrationRuleText(target)
        if let rules = self.rules { try text.read(file: rules) }
        for word in set { try text.set(word) }
        for name in deleteMisfits { try text.deleteMisfits(name) }
        let rules = text.rules + mapped
        if !isInterrupted { try look(target, rules, &report) }
        if !plan, !dryRun {
            try migrate(target, rules)
            report.isMigrated = true
        }
        try report.print(json: json)
        if dryRun, report.isRefused { throw ExitStatus.FoundProblem() }
    }

    private func look(_ model: ManagedObjectModel, _ rules: [MigrationRule], _ report: inout MigrationReport) throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        try store.reading { store in
            report.plan = try store.migrationPlan(to: model)
            guard dryRun else { return }
            let misfits = try store.misfits(of: model, rules, progress: progress.handler)
            let deleted = Set(rules.filter(\.deletesMisfits).map(\.entityName))
            report.problems = misfits.problems
            report.deleted = deleted
            report.deletes = misfits.objects.reduce(0) { $0 + (deleted.contains($1.key) ? $1.value.count : 0) }
            report.isRefused =
                !Set(misfits.objects.keys).isSubset(of: deleted) || report.isDowngrade && !allowDowngrade
        }
    }

    private func migrate(_ model: ManagedObjectModel, _ rules: [MigrationRule]) throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        var options = PersistentStoreOptions(migrationRules: rules, allowsModelDowngrade: allowDowngrade)
        options.migrationProgress = progress.handler
        let subjectKeys = try KeyFiles.subjectKeys(store.subjectKeys)
        options.encryption = KeyFiles.keys(of: store.keyFile).map { StoreEncryption(subjectKeys: subjectKeys, $0) }
        let container = PersistentContainer(
            name: "strata", model: model, at: .url(URL(filePath: store.path, directoryHint: .isDirectory)),
            options: options)
        DamageGuard.watch(store.path)
        do {
            try container.loadPersistentStores()
        } catch let error as StrataError {
            throw error.asMigration
        }
        container.close()
    }
}

extension StrataError {
    /// The error in the words of the command: objects that fail alike are one line, and an older model has its option.
    fileprivate var asMigration: StrataError {
        if code == .modelDowngrade {
            let advice = message.replacing(
                "allow the older model with PersistentStoreOptions.allowsModelDowngrade", with: "give --allow-downgrade"
            )
            // The message says what would be hidden, and who made the newer model.
            return StrataError(code, advice, context: .init(path: context.path))
        }
        var alike: [String: Int] = [:]
        for detail in details { alike[detail.groupText, default: 0] += 1 }
        var seen: Set<String> = []
        let first = details.filter { seen.insert($0.groupText).inserted }
        guard code == .migration, !details.isEmpty else { return self }
        let advice = StrataError(
            .migration,
            "Nothing was changed. --set gives a value to objects without one, and --delete-misfits deletes objects; with "
                + "--dry-run the command counts what is left.", context: .init())
        return StrataError(
            code, message, context: context,
            details: first.map { detail in
                let more = (alike[detail.groupText] ?? 1) - 1
                guard more > 0 else { return detail }
                return StrataError(
                    detail.code, "\(detail.commandLineText) and \(ValueText.count(more, "more object"))",
                    context: .init())
            } + [advice])
    }

    private var groupText: String { "\(context.entityName ?? "").\(context.key ?? "") \(message)" }
}

/// The output of `strata migrate`.
private struct MigrationReport {
    let path: String
    let model: String
    /// Nil if an interrupted migration was finished.
    var plan: MigrationPlan?
    var problems: [MigrationProblem] = []
    /// The entities whose misfits the rules delete.
    var deleted: Set<String> = []
    /// The number of objects that the rules delete.
    var deletes = 0
    /// Parts of a mapping model that are not carried out.
    var notes: [String] = []
    var isRefused = false
    var isMigrated = false

    var isDowngrade: Bool { plan?.isDowngrade ?? false }

    init(path: String, model: String) {
        self.path = path.droppingTrailingSlash
        self.model = model
    }

    func print(json: Bool) throws {
        if json { return try printJSON() }
        for step in plan?.steps ?? [] { Output.shared.line(step.description) }
        for note in notes { Output.shared.line("not done: \(note)") }
        for problem in problems {
            let what = deleted.contains(problem.entityName) ? "would be deleted" : "does not fit"
            Output.shared.line("\(what): \(problem)")
        }
        if deletes > 0 { Output.shared.line("the rules delete \(ValueText.count(deletes, "object"))") }
        if isMigrated {
            let isSame = plan?.isEmpty ?? false
            Output.shared.line(isSame ? "\(path) has the model \(model)" : "\(path) was migrated to \(model)")
        } else if plan?.isEmpty ?? false {
            Output.shared.line("\(path) has the model \(model)")
        } else if isDowngrade {
            Output.shared.line("the store has left the model \(model) behind: --allow-downgrade goes back to it")
        }
    }

    private func printJSON() throws {
        let steps = plan?.steps.map { step -> JSONObject in
            [
                "kind": step.kind.rawValue, "work": "\(step.work)", "entity": step.entityName, "key": step.key,
                "message": step.sentence, "objects": step.objectCount, "hidden": step.hiddenValueCount,
            ]
        }
        let problems = problems.map { problem -> JSONObject in
            [
                "entity": problem.entityName, "key": problem.key, "message": problem.sentence,
                "objects": problem.objectCount, "examples": problem.examples.map { $0.named(problem.entityName) },
                "deleted": deleted.contains(problem.entityName),
            ]
        }
        try JSONText.print([
            "path": path, "model": model, "migrated": isMigrated, "downgrade": isDowngrade, "steps": steps,
            "problems": problems, "deletes": deletes, "notes": notes,
        ])
    }
}
