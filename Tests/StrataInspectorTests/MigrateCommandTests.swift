import Foundation
import LMDB
import StrataModel
import Testing

@testable import StrataStore

/// `strata migrate`, by whole output and exit code.
@Suite struct MigrateCommandTests {
    private let directory = FileManager.default.temporaryDirectory.appending(component: "migrate-\(UUID().uuidString)")
    private var store: String { directory.appending(component: "Shop.strata").path }
    private var next: String { directory.appending(component: "Next.strata").path }

    private static func attribute(_ name: String, isOptional: Bool) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: .string, isOptional: isOptional))
    }

    /// Three orders of which two have no status, and a draft. The next model asks for a status and has no drafts.
    init() throws {
        func model(_ isNext: Bool) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Order",
                    properties: [
                        Self.attribute("number", isOptional: true), Self.attribute("status", isOptional: !isNext),
                    ] + (isNext ? [] : [Self.attribute("note", isOptional: true)])),
                EntityDescription(
                    name: "Draft", isAbstract: isNext, properties: [Self.attribute("text", isOptional: true)]),
            ])
        }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (path, isNext) in [(store, false), (next, true)] {
            let location = StoreLocation.directory(URL(filePath: path, directoryHint: .isDirectory))
            try Store.open(location, model: model(isNext)).close()
        }
        for words in [["number=1", "status=paid", "note=x"], ["number=2"], ["number=3"]] {
            #expect(try Tool.run(["insert", store, "Order"] + words).exitCode == 0)
        }
        #expect(try Tool.run(["insert", store, "Draft", "text=a"]).exitCode == 0)
    }

    private func run(_ words: String...) throws -> Tool.Result {
        try Tool.run(["migrate", store, "--model", next] + words)
    }

    @Test func planAndDryRunOnlyRead() throws {
        let plan = try run("--plan")
        #expect(plan.exitCode == 0 && plan.error.isEmpty, "\(plan)")
        #expect(plan.output.contains("Order.note is removed. (hides 1 value)\n"), "\(plan)")
        #expect(!plan.output.contains("does not fit"))
        let dry = try run("--dry-run")
        #expect(dry.exitCode == 1 && dry.error.isEmpty, "\(dry)")
        #expect(dry.output.hasPrefix(plan.output))
        #expect(
            dry.output.contains("does not fit: Order: status is required. (2 objects: Order/p"), "\(dry)")
        #expect(
            dry.output.contains(
                "does not fit: Draft: Draft is abstract and may have no objects. (1 object: Draft/p"), "\(dry)")
        let solved = try run("--dry-run", "--set", "Order.status=open", "--delete-misfits", "Draft", "--json")
        #expect(solved.exitCode == 0 && solved.error.isEmpty, "\(solved)")
        #expect(
            solved.output.contains("\"deletes\" : 1") && solved.output.contains("\"migrated\" : false"), "\(solved)")
        #expect(solved.output.contains("\"deleted\" : true"), "\(solved)")
        // What a rule settles is no misfit any more.
        let told = try run("--dry-run", "--set", "Order.status=open", "--delete-misfits", "Draft").output
        #expect(
            told.contains("\nwould be deleted: Draft: Draft is abstract and may have no objects. (1 object: "),
            "\(told)")
        #expect(!told.contains("does not fit"), "\(told)")
        let count = try Tool.run("count", store, "Draft")
        #expect(count.output == "1\n", "\(count)")
    }

    @Test(arguments: ["notice", "warning"])
    func aMigrationLogsOneShortLineAtTheLevelThatIsAskedFor(level: String) throws {
        let result = try run("--set", "Order.status=open", "--delete-misfits", "Draft", "--log-level", level)
        let lines = result.error.split(separator: "\n")
        #expect(result.exitCode == 0 && lines.count == (level == "notice" ? 1 : 0), "\(result)")
        #expect(lines.allSatisfy { $0.contains("to model 2: 3 changes, work on ") }, "\(result)")
        #expect(lines.allSatisfy { $0.count < 300 + store.count }, "\(result)")
        #expect(try run("--log-level", "loud").exitCode == 2)
    }

    @Test func aMomentBeforeAMigrationHasWhatIsRemoved() throws {
        let then = try Store.open(
            .directory(URL(filePath: store, directoryHint: .isDirectory)), model: nil)
        let moment = try then.head().description
        then.close()
        #expect(try run("--set", "Order.status=open", "--delete-misfits", "Draft").exitCode == 0)
        let notes = try Tool.run(
            "query", store, "Order", "--at", moment, "--columns", "number,note", "--where", "note != nil")
        #expect(notes.exitCode == 0 && notes.output.contains("x"), "\(notes)")
        let drafts = try Tool.run("count", store, "Draft", "--at", moment)
        #expect(drafts.output == "1\n", "\(drafts)")
        #expect(try Tool.run("query", store, "Order", "--columns", "note").exitCode != 0)
    }

    @Test func withoutRulesNothingChanges() throws {
        let result = try run("--delete-misfits", "Draft")
        // Objects that do not fit in the same way are one line.
        let lines = result.error.split(separator: "\n").filter { $0.hasPrefix("strata: status is required.") }
        #expect(result.exitCode == 1 && lines.count == 1, "\(result)")
        #expect(lines.first?.hasSuffix(") and 1 more object") == true, "\(result)")
        #expect(try Tool.run("count", store, "Draft").output == "1\n")
    }

    @Test(arguments: [true, false])
    func rulesMakeTheObjectsFit(isFile: Bool) throws {
        let file = directory.appending(component: "rules.txt")
        try Data("# of the shop\nset Order.status = \"open\"\n\ndelete-misfits Draft\n".utf8).write(to: file)
        let words = isFile ? ["--rules", file.path] : ["--set", "Order.status=\"open\"", "--delete-misfits", "Draft"]
        let result = try Tool.run(["migrate", store, "--model", next] + words)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.output.hasSuffix("\(store) was migrated to version 1\n"), "\(result)")
        let orders = try Tool.run("query", store, "Order", "--sort", "number", "--format", "csv", "--columns", "status")
        #expect(orders.output.split(whereSeparator: \.isNewline) == ["status", "paid", "open", "open"], "\(orders)")
        #expect(try Tool.run("verify", store).exitCode == 0)
        let again = try run()
        #expect(again.output == "\(store) has the model version 1\n", "\(again)")
    }

    @Test func aViewThatGoesIsNamedByPlanAndMigration() throws {
        for (view, key) in [("Notes", "note"), ("States", "status")] {
            let made = try Tool.run(
                "views", "create", store, view, "--of", "Order", "--key", key, "--column", "orders = count")
            #expect(made.exitCode == 0, "\(made)")
        }
        let sentence = "The view Notes, which the store keeps, is dropped: Order.note is removed.\n"
        #expect(try run("--plan").output.contains(sentence))
        #expect(try run("--plan", "--json").output.contains("\"viewRemoved\""))
        let result = try run("--set", "Order.status=open", "--delete-misfits", "Draft")
        #expect(result.exitCode == 0 && result.output.contains(sentence), "\(result)")
        let views = try Tool.run("views", "list", store)
        #expect(views.output.contains("States") && !views.output.contains("Notes"), "\(views)")
    }

    @Test func aModelThatTheStoreHasLeftBehindNeedsTheFlag() throws {
        let first = directory.appending(component: "First.strata").path
        try FileManager.default.copyItem(atPath: store, toPath: first)
        let rules = ["--set", "Order.status=open", "--delete-misfits", "Draft"]
        #expect(try Tool.run(["migrate", store, "--model", next] + rules).exitCode == 0)
        let refused = try Tool.run("migrate", store, "--model", first)
        #expect(refused.exitCode == 1 && refused.error.contains("The store has model 2, installed on "), "\(refused)")
        #expect(refused.error.contains("give --allow-downgrade"), "\(refused)")
        let allowed = try Tool.run("migrate", store, "--model", first, "--allow-downgrade")
        #expect(allowed.exitCode == 0, "\(allowed)")
        let notes = try Tool.run("query", store, "Order", "--sort", "number", "--format", "csv", "--columns", "note")
        #expect(notes.output.split(whereSeparator: \.isNewline).prefix(2) == ["note", "x"], "\(notes)")
    }

    @Test(arguments: [
        (["--set", "Order.stat=open"], "Order has no attribute 'stat'."),
        (["--set", "Orders.status=open"], "The new model has no entity 'Orders'."),
        (["--set", "status"], "'status' is not an assignment."),
        (["--delete-misfits", "Drafts"], "The new model has no entity 'Drafts'."),
        (["--rules", "/nowhere"], "/nowhere cannot be read"),
        (["--set", "Order.status=a", "--set", "Order.status=b"], "Order.status is set twice."),
    ])
    func whatIsNoRuleIsBadUsage(words: [String], message: String) throws {
        let result = try Tool.run(["migrate", store, "--model", next] + words)
        #expect(result.exitCode == 2 && result.error.contains(message), "\(result)")
    }

    /// Killed at each line of progress, the store is sound, and the same command finishes what was begun.
    @Test func theSameCommandFinishesAMigrationThatWasKilled() throws {
        let lines = (4...6_000).map { #"{"number": "\#($0)", "note": "n\#($0)"}"# }
        let file = directory.appending(component: "orders.ndjson").path
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        #expect(try Tool.run("import", store, "Order", file).exitCode == 0)
        let copy = store + ".copy"
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        let words = ["migrate", store, "--model", next, "--set", "Order.status=open", "--delete-misfits", "Draft"]
        let whole = try Tool.run(words, sending: SIGKILL) { _ in false }
        #expect(whole.exitCode == 0 && !whole.lines.isEmpty, "\(whole)")
        let phases = whole.lines.map { String($0.prefix { $0 != ":" }) }
        var killed = 0
        for (number, phase) in phases.enumerated() where phases.firstIndex(of: phase) == number {
            try FileManager.default.removeItem(atPath: store)
            try FileManager.default.copyItem(atPath: copy, toPath: store)
            if try Tool.run(words, sending: SIGKILL, at: { $0.hasPrefix(phase) }).exitCode != 0 { killed += 1 }
            let again = try Tool.run(words)
            #expect(again.exitCode == 0, "\(phase): \(again)")
            #expect(try Tool.run("count", store, "Order", "--where", "status == 'open'").output == "5999\n", "\(phase)")
            #expect(try Tool.run("count", store, "Order", "--where", "status == nil").output == "0\n", "\(phase)")
            #expect(try Tool.run("verify", store).exitCode == 0, "\(phase)")
        }
        #expect(killed > 0)
    }

    @Test func aRebuildThatWasInterruptedIsFinishedFirst() throws {
        let library = try Store.open(.directory(URL(filePath: store, directoryHint: .isDirectory)), model: nil)
        try library.file.write { transaction in
            let head = try library.file.readHead(transaction)
            for part in library.file.tables.viewTables.flatMap(\.table.parts) { try transaction.clear(part) }
            try library.file.writeMark(RebuildMark(head: head, applied: .zero), transaction)
        }
        library.close()
        #expect(try run("--plan").error.contains("are being rebuilt"))
        let result = try run("--set", "Order.status=open", "--delete-misfits", "Draft")
        #expect(result.exitCode == 0, "\(result)")
        #expect(try Tool.run("count", store, "Order", "--where", "status != nil").output == "3\n")
        #expect(try Tool.run("verify", store).exitCode == 0)
    }

    @Test func aMappingModelNamesWhatWasRenamed() throws {
        let folder = directory.appending(component: "Shop.xcmappingmodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let mapping = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database>
                <object type="XDDEVMAPPINGMODEL" id="z1">
                    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2 z3"></relationship>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z2">
                    <attribute name="sourcename" type="string">Order</attribute>
                    <attribute name="destinationname" type="string">Order</attribute>
                    <attribute name="mappingnumber" type="int16">1</attribute>
                    <attribute name="autogenerateexpression" type="bool">1</attribute>
                    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z4"></relationship>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z3">
                    <attribute name="migrationpolicyclassname" type="string">Shop.DraftPolicy</attribute>
                    <attribute name="sourcename" type="string">Draft</attribute>
                    <attribute name="destinationname" type="string">Draft</attribute>
                    <attribute name="mappingnumber" type="int16">2</attribute>
                </object>
                <object type="XDDEVATTRIBUTEMAPPING" id="z4">
                    <attribute name="name" type="string">status</attribute>
                    <attribute name="sourcekeypath" type="string">note</attribute>
                </object>
            </database>
            """
        try Data(mapping.utf8).write(to: folder.appending(component: "xcmapping.xml"))
        let words = ["--mapping", folder.path, "--set", "Order.status=open", "--delete-misfits", "Draft"]
        let result = try Tool.run(["migrate", store, "--model", next] + words)
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            result.output.contains("not done: Draft is migrated by the code of Shop.DraftPolicy, which is not run.\n"),
            "\(result)")
        let orders = try Tool.run("query", store, "Order", "--sort", "number", "--format", "csv", "--columns", "status")
        #expect(orders.output.split(whereSeparator: \.isNewline) == ["status", "x", "open", "open"], "\(orders)")
    }
}
