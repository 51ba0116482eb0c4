import Foundation
import StrataModel
import StrataStore
import Testing

/// Declared views in the tool.
@Suite struct ViewsCommandTests {
    private let directory: URL
    private var path: String { directory.path(percentEncoded: false) }

    init() throws {
        let store = try ToolStore()
        directory = FileManager.default.temporaryDirectory.appending(component: "views-\(UUID().uuidString).strata")
        try FileManager.default.copyItem(at: store.directory, to: directory)
        let ratings = ViewDescription(
            name: "Ratings", version: 2, entityName: "BowTie", where: try FetchPredicate(format: "rating > 0"),
            keys: [ViewKey("drawer")],
            aggregates: [ViewAggregate("ties", .count), ViewAggregate("best", .max, "rating")])
        try Store.open(.directory(directory), model: try ToolStore.model().adding(views: [ratings])).close()
    }

    private func run(_ arguments: String...) throws -> Tool.Result { try Tool.run(["views"] + arguments) }

    @Test func viewsAreListedShownAndQueried() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let before = try Data(contentsOf: directory.appending(component: "data.mdb"))
        let list = try run("list", path)
        #expect(list.exitCode == 0 && list.output.contains("Ratings        2  BowTie     1"), "\(list)")
        #expect(try run("list", path, "--json").output.contains("\"rows\" : 1"))
        let show = try run("show", path, "Ratings")
        #expect(show.output.contains("best = max(rating)") && show.output.contains("rating > 0"), "\(show)")
        let query = try run("query", path, "Ratings", "--format", "csv")
        #expect(query.output.hasPrefix("drawer,ties,best\nDrawer/p") && query.output.contains(",1,5"), "\(query)")
        #expect(try run("query", path, "Ratings", "--where", "ties > 1", "--json").output == "[]\n")
        #expect(try run("query", path, "Ratings", "--at", "t3", "--format", "csv").output.contains(",1,4.5"))
        let wrong = try run("show", path, "Rating")
        #expect(wrong.exitCode == 2 && wrong.error.contains("Did you mean 'Ratings'?"), "\(wrong)")
        #expect(try run("query", path, "Ratings", "--where", "tie > 1").exitCode != 0)
        let untyped = try run("query", path, "Ratings", "--where", "ties > 'many'")
        #expect(untyped.exitCode == 2 && untyped.error.contains("ties is a number and cannot"), "\(untyped)")
        #expect(try run("query", path, "Ratings", "--where", "best > 'many'").exitCode == 2)
        #expect(try Data(contentsOf: directory.appending(component: "data.mdb")) == before)
        #expect(try Tool.run("verify", path).exitCode == 0)
    }

    @Test func viewsAreMadeRebuiltAndDropped() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let made = try run(
            "create", path, "Named", "--of", "BowTie", "--key", "stars = bucket(rating, 2)", "--column", "ties = count",
            "--column", "best = last(SELF by rating)", "--column", "mean = average(rating)", "--order", "-mean",
            "--json")
        #expect(made.exitCode == 0 && made.output.contains("\"orderEntries\""), "\(made)")
        #expect(try run("show", path, "Named").output.contains("mean descending"))
        let query = try run("query", path, "Named", "--sort", "-mean", "--limit", "1", "--format", "csv")
        #expect(query.output.hasPrefix("stars,ties,best,mean\n") && query.output.contains("BowTie/p"), "\(query)")
        // An app whose model does not know the view keeps it.
        let opened = try Store.open(.directory(directory), model: nil)
        let ratings = try #require(opened.schema.model.view(named: "Ratings"))
        opened.close()
        try Store.open(.directory(directory), model: try ToolStore.model().adding(views: [ratings])).close()
        #expect(try run("list", path).output.contains("Named"))
        let rebuilt = try run("rebuild", path, "Named", "--json")
        #expect(rebuilt.exitCode == 0 && rebuilt.output.contains("\"unchanged\" : true"), "\(rebuilt)")
        #expect(try run("create", path, "Named", "--of", "BowTie", "--column", "n = count").exitCode == 2)
        let faulty = try run("create", path, "Wrong", "--of", "BowTie", "--key", "nothing", "--column", "s = sum(name)")
        #expect(faulty.exitCode != 0 && faulty.error.contains("nothing is unknown"), "\(faulty)")
        #expect(faulty.error.contains("has no sum"), "\(faulty)")
        #expect(try run("create", path, "Wrong", "--of", "BowTie", "--column", "sum").exitCode == 2)
        let ofApp = try run("drop", path, "Ratings")
        #expect(ofApp.exitCode == 2 && ofApp.error.contains("remove it there"), "\(ofApp)")
        #expect(try run("drop", path, "Named").output.hasPrefix("dropped Named"))
        #expect(try !run("list", path).output.contains("Named"))
        #expect(try Tool.run("verify", path).exitCode == 0)
    }

    @Test func faultsOfDefinitionsAreOneSentenceEach() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let order = try run(
            "create", path, "W", "--of", "BowTie", "--key", "drawer", "--column", "c = count", "--order", "zz")
        #expect(order.error == "strata: BowTie.W has an order by zz, and zz is no column.\n", "\(order)")
        let far = try run("create", path, "W", "--of", "Drawer", "--key", "x = ties.name", "--column", "c = count")
        #expect(far.error == "strata: Drawer.ties.name leads over the to-many ties, as a key of the view W.\n")
    }

    @Test func sumsOfNoDecimalsAndOfSomeHaveOneForm() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let model = directory.deletingLastPathComponent().appending(path: "\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: model) }
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8"?><model type="com.apple.IDECoreDataModeler.DataModel">
            <entity name="Shop"><attribute name="name" attributeType="String" optional="YES"/>
            <relationship name="items" toMany="YES" destinationEntity="Item" inverseName="shop" inverseEntity="Item"
            optional="YES"/></entity>
            <entity name="Item"><attribute name="price" attributeType="Decimal" optional="YES"/>
            <relationship name="shop" maxCount="1" destinationEntity="Shop" inverseName="items" inverseEntity="Shop"
            optional="YES"/></entity></model>
            """.utf8
        ).write(to: model.appending(path: "contents"))
        let shops = directory.path + "-shops"
        defer { try? FileManager.default.removeItem(atPath: shops) }
        #expect(try Tool.run("create", shops, "--model", model.path).exitCode == 0)
        #expect(try run("create", shops, "V", "--of", "Item", "--column", "s = sum(price)").exitCode == 0)
        func sums() throws -> [String] {
            [
                try run("query", shops, "V", "--json").output,
                try Tool.run("query", shops, "Item", "--columns", "sum(price) AS s", "--json").output,
                try Tool.run("query", shops, "Shop", "--columns", "items.@sum.price AS s", "--json").output,
            ]
        }
        #expect(try Tool.run("insert", shops, "Shop", "name=one").exitCode == 0)
        #expect(try Set(sums()) == ["[\n  {\"s\":\"0\"}\n]\n"])
        for price in ["99999999999999999999999999999", "0.5"] {
            #expect(try Tool.run("insert", shops, "Item", "price=\(price)", "shop=Shop/p1").exitCode == 0)
        }
        #expect(try Set(sums()) == ["[\n  {\"s\":\"99999999999999999999999999999.5\"}\n]\n"])
    }

    @Test func aViewThatCatchesUpSaysHowFarItIs() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let made = try run(
            "create", path, "Late", "--of", "BowTie", "--where", "NOT 'x' MATCHES name", "--key", "drawer",
            "--column", "ties = count", "--catching-up", "--json")
        #expect(made.exitCode == 0 && made.output.contains("\"upkeep\" : \"catchingUp\""), "\(made)")
        #expect(made.output.contains("\"state\" : \"live\"") && made.output.contains("\"lagEvents\" : 0"), "\(made)")
        #expect(try run("retry", path, "Late").error.contains("has not failed"))
        // An object that the view cannot group: its name is no pattern.
        var options = StoreOptions()
        options.viewKeeping = .byHand
        let store = try Store.open(.directory(directory), model: nil, options: options)
        let entity = try #require(store.schema.entity(named: "BowTie"))
        let slot = try #require(entity.property(named: "name")?.slot)
        var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version)
        var builder = RowBuilder(entity.layout)
        try builder.set(slot, .string("("))
        changes.insertions.append(
            .init(id: try store.newObjectID(in: entity.id), image: try builder.finish()))
        _ = try store.save(changes)
        store.close()
        #expect(try run("show", path, "Late").output.contains("live, 1 event behind"))
        let failed = try run("retry", path, "Ratings")
        #expect(failed.exitCode != 0)
        let keeping = try Store.open(.directory(directory), model: nil, options: options)
        try keeping.keepViews()
        keeping.close()
        let shown = try run("show", path, "Late")
        #expect(shown.output.contains("failed at event") && shown.output.contains("pattern"), "\(shown)")
        #expect(try run("retry", path, "Late").output.contains("failed at event"))
        #expect(try run("skip", path, "Late", "--json").output.contains("\"state\" : \"live\""))
        #expect(try run("list", path).output.contains("live"))
        #expect(try Tool.run("verify", path).exitCode == 0)
    }

    @Test func aViewOfATypeThatTheToolDoesNotHaveIsListedAndRead() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let code = ProjectionCode("ToolTests.Names") { before, changes in
            var count: Int64 = 0
            if case .composite(let state)? = before, case .integer(let known)? = state["names"] { count = known }
            for change in changes { count += change.isRemoval ? -1 : 1 }
            return .composite(["names": .integer(count)])
        }
        let names = ViewDescription(
            name: "Names", entityName: "BowTie",
            aggregates: [
                ViewAggregate("ties", .count),
                ViewAggregate("state", ProjectionReference(code.typeName, inputs: ["name"])),
            ])
        code.register()
        var options = StoreOptions()
        options.viewKeeping = .byHand
        let model = try ToolStore.model().adding(views: [names])
        try Store.open(.directory(directory), model: model, options: options).close()
        ProjectionCode.forget(code.typeName)
        #expect(try run("list", path).output.contains("live"))
        #expect(try run("show", path, "Names").output.contains("state = projection(ToolTests.Names, name)"))
        let state = try run("query", path, "Names", "--json")
        #expect(state.exitCode == 0 && state.output.contains("\"names\""), "\(state)")
        let verified = try Tool.run("verify", path)
        #expect(verified.exitCode == 0 && verified.output.contains("the view Names was not compared"), "\(verified)")
        #expect(try Tool.run("verify", path, "--json").output.contains("\"uncheckedViews\""))
        let rebuilt = try run("rebuild", path, "Names")
        #expect(rebuilt.exitCode != 0 && rebuilt.error.contains("ToolTests.Names"), "\(rebuilt)")
        // A process without the type saves.
        let store = try Store.open(.directory(directory), model: nil, options: options)
        let entity = try #require(store.schema.entity(named: "BowTie"))
        let slot = try #require(entity.property(named: "name")?.slot)
        let before = try store.head()
        var changes = ChangeSet(base: before, modelVersion: store.schema.version)
        var builder = RowBuilder(entity.layout)
        try builder.set(slot, .string("Dotted"))
        changes.insertions.append(.init(id: try store.newObjectID(in: entity.id), image: try builder.finish()))
        _ = try store.save(changes)
        store.close()
        #expect(try run("show", path, "Names").output.contains("live, 1 event behind"))
        let behind = try run("query", path, "Names")
        #expect(behind.exitCode != 0 && behind.error.contains("ToolTests.Names"), "\(behind)")
        #expect(try run("query", path, "Names", "--at", "\(before)", "--json").output == state.output)
        #expect(try Tool.run("verify", path).exitCode == 0)
    }

    @Test func aStoreWithoutViewsSaysSo() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let plain = try ToolStore()
        #expect(try run("list", plain.path).output == "no view; 'strata views create' declares one\n")
        #expect(try run("show", plain.path, "Ratings").error.contains("declares no views"))
    }
}
