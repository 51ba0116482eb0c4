import Foundation
import StrataModel
import StrataStore
import Testing

/// Attributes that change their type, become required, or are computed.
struct ValueMigrationTests {
    private func note(
        _ properties: [PropertyDescription], indexes: [FetchIndexDescription] = [], unique: [[String]] = []
    ) throws -> ManagedObjectModel {
        try Describe.model(
            EntityDescription(
                name: "Note", properties: properties, indexes: indexes, uniquenessConstraints: unique))
    }

    @Test(arguments: [
        (AttributeType.integer32, AttributeType.string, AttributeValue.integer(-7), AttributeValue.string("-7")),
        (.string, .integer16, .string("12"), .integer(12)),
        (.integer64, .integer16, .integer(300), .integer(300)),
        (.double, .decimal, .double(2.5), .decimal(Decimal(string: "2.5")!)),
        (.decimal, .double, .decimal(Decimal(string: "-0.25")!), .double(-0.25)),
        (.string, .date, .string("2026-11-21T06:00:00Z"), .date(Date(timeIntervalSince1970: 1_795_240_800))),
        (.date, .string, .date(Date(timeIntervalSince1970: 0)), .string("1970-01-01T00:00:00Z")),
        (.string, .boolean, .string("yes"), .boolean(true)),
        (.boolean, .string, .boolean(false), .string("false")),
        (.double, .integer32, .double(3), .integer(3)),
        (.string, .binaryData, .string("ab"), .data(Data([0x61, 0x62]))),
        (
            .uuid, .string, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
            .string("01020304-0506-0708-090A-0B0C0D0E0F10")
        ),
    ])
    func typeChangesByTheValuesMeaning(
        old: AttributeType, new: AttributeType, before: AttributeValue, after: AttributeValue
    ) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let index = FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])
        let (id, empty, then) = try store.open(note([Describe.attribute("x", old, optional: true)], indexes: [index])) {
            let id = try $0.insert("Note", ["x": before])
            return (id, try $0.insert("Note", [:]), try $0.store.head())
        }
        try store.open(note([Describe.attribute("x", new, optional: true)], indexes: [index])) { fixture in
            let now = try StateDump(fixture.store, at: fixture.store.head())
            #expect(now[id, "x"] == .value(after))
            #expect(now[empty, "x"] == .value(.null))
            let past = try StateDump(fixture.store, at: then, through: fixture.store.schema(at: then))
            #expect(past[id, "x"] == .value(before))
            // The log says it as it says every change.
            let last = try #require(try fixture.store.history(of: id).first)
            guard case .updated(let changes) = last.payload else { return #expect(Bool(false), "\(last)") }
            #expect(changes.map(\.after) == [.value(after)])
        }
    }

    /// Numbers that became wider for nothing, beside an attribute whose values were rewritten.
    @Test func thePastHasItsTypesAlsoWhereRowsWereRewritten() throws {
        let types: [(AttributeType, AttributeValue)] = [
            (.boolean, .boolean(true)), (.boolean, .boolean(false)), (.integer16, .integer(-3)),
            (.integer32, .integer(70_000)), (.integer64, .integer(1 << 40)), (.float, .float(0.1)),
        ]
        let wider: [AttributeType] = [.integer16, .integer32, .integer64, .float, .double, .decimal]
        var old = [Describe.attribute("x", .integer32, optional: true)]
        var new = [Describe.attribute("x", .string, optional: true)]
        var values: [String: AttributeValue] = ["x": .integer(5)]
        for (type, value) in types {
            let before = Describe.attribute("a", type, optional: true)
            for wide in wider where wide != type {
                guard case .attribute(let from) = before, case .attribute(let to) = Describe.attribute("a", wide),
                    from.canBeRead(as: to)
                else { continue }
                let name = "a\(values.count)"
                values[name] = value
                old.append(Describe.attribute(name, type, optional: true))
                new.append(Describe.attribute(name, wide, optional: true))
            }
        }
        #expect(values.count > 20)
        let store = MigratedStore()
        defer { store.remove() }
        let (id, then) = try store.open(note(old)) { (try $0.insert("Note", values), try $0.store.head()) }
        try store.open(note(new)) { fixture in
            let past = try StateDump(fixture.store, at: then, through: fixture.store.schema(at: then))
            for (name, value) in values { #expect(past[id, name] == .value(value), "\(name)") }
        }
    }

    @Test func valuesThatCannotBeConvertedAreNamedAndNothingIsWritten() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let old = try note([Describe.attribute("x")])
        let bad = try store.open(old) { fixture in
            _ = try fixture.insert("Note", ["x": .string("1")])
            return try [fixture.insert("Note", ["x": .string("one")]), fixture.insert("Note", ["x": .string("2.5")])]
        }
        let error = #expect(throws: StrataError.self) {
            try store.open(note([Describe.attribute("x", .integer32)])) { _ in }
        }
        #expect(error?.code == .migration)
        #expect(error?.details.map(\.context.objectID) == bad)
        #expect(error?.details.first?.context.value == .string("one"))
        #expect(error?.details.first?.context.key == "x")
        try store.open { #expect($0.schema.version == ModelVersion(rawValue: 1)) }
        // A rule of the app's says what the types do not.
        let rule = MigrationRule(entity: "Note", property: "x") { old in
            if case .string(let text) = old["x"] { return .integer(Int64(text) ?? 0) }
            return .null
        }
        try store.open(note([Describe.attribute("x", .integer32)]), MigratedStore.options(values: [rule])) { fixture in
            try #expect(fixture.values(bad[0])?["x"] == .integer(0))
        }
    }

    /// A constant is for objects that have no value. A value that can be converted is converted.
    @Test func aConstantDoesNotReplaceWhatCanBeConverted() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let ids = try store.open(note([Describe.attribute("x", optional: true)])) { fixture in
            try ["1", "one", nil].map { try fixture.insert("Note", $0.map { ["x": .string($0)] } ?? [:]) }
        }
        let rule = MigrationRule(entity: "Note", property: "x", value: .integer(-1))
        try store.open(note([Describe.attribute("x", .integer32)]), MigratedStore.options(values: [rule])) { fixture in
            try #expect(ids.map { try fixture.values($0)?["x"] } == [.integer(1), .integer(-1), .integer(-1)])
        }
    }

    @Test func requiredAttributeIsFilledByItsDefault() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let (empty, full) = try store.open(note([Describe.attribute("x", optional: true)])) {
            (try $0.insert("Note", [:]), try $0.insert("Note", ["x": .string("a")]))
        }
        let error = #expect(throws: StrataError.self) { try store.open(note([Describe.attribute("x")])) { _ in } }
        #expect(error?.details.map(\.context.objectID) == [empty])
        #expect(error?.details.first?.code == .validationMissingMandatoryProperty)
        try store.open(note([Describe.attribute("x", default: .string("none"))])) { fixture in
            try #expect(fixture.values(empty)?["x"] == .string("none"))
            try #expect(fixture.values(full)?["x"] == .string("a"))
            try #expect(fixture.store.history(of: full).count == 1)
        }
    }

    @Test func computedDefaultIsWrittenByEvents() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let x = Describe.attribute("x", .integer32)
        let id = try store.open(note([x])) { try $0.insert("Note", ["x": .integer(4)]) }
        let square = MigrationRule(entity: "Note", property: "square") { old in
            guard case .integer(let x) = old["x"] else { return .null }
            return .integer(x * x)
        }
        let new = try note([x, Describe.attribute("square", .integer64)])
        try store.open(new, MigratedStore.options(values: [square])) { fixture in
            try #expect(fixture.values(id)?["square"] == .integer(16))
            try #expect(fixture.store.history(of: id).count == 2)
        }
    }

    @Test func newUniqueRuleNamesTheObjectsThatClash() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let x = Describe.attribute("x", optional: true)
        let ids = try store.open(note([x])) { fixture in
            try ["a", "b", "a", nil, nil].map {
                try fixture.insert("Note", $0.map { ["x": .string($0)] } ?? [:])
            }
        }
        let error = #expect(throws: StrataError.self) { try store.open(note([x], unique: [["x"]])) { _ in } }
        #expect(error?.details.map(\.code) == [.constraintMerge])
        #expect(error?.details.first?.context.objectID == ids[2])
        #expect(error?.details.first?.message.contains("Note/p\(ids[0].row)") ?? false)
        try store.open(note([x])) { try $0.delete(ids[2]) }
        try store.open(note([x], unique: [["x"]])) { fixture in
            let clash = #expect(throws: StrataError.self) { try fixture.insert("Note", ["x": .string("b")]) }
            #expect(clash?.code == .constraintMerge)
        }
    }

    @Test func uniqueRuleOverAConvertedValueJudgesTheNewValues() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let ids = try store.open(note([Describe.attribute("x")])) { fixture in
            try ["1", "01"].map { try fixture.insert("Note", ["x": .string($0)]) }
        }
        let new = try note([Describe.attribute("x", .integer16)], unique: [["x"]])
        let error = #expect(throws: StrataError.self) { try store.open(new) { _ in } }
        #expect(error?.details.map(\.context.objectID) == [ids[1]])
    }

    @Test func narrowerRuleIsHeldAgainstWhatIsThere() throws {
        let store = MigratedStore()
        defer { store.remove() }
        func rating(_ most: Double) -> PropertyDescription {
            Describe.attribute("rating", .double, rules: [.range(minimum: nil, maximum: .double(most))])
        }
        let high = try store.open(note([rating(5)])) { fixture in
            _ = try fixture.insert("Note", ["rating": .double(2)])
            return try fixture.insert("Note", ["rating": .double(4)])
        }
        let error = #expect(throws: StrataError.self) { try store.open(note([rating(3)])) { _ in } }
        #expect(error?.details.map(\.context.objectID) == [high])
        #expect(error?.details.first?.code == .validationNumberTooLarge)
        try store.open(note([rating(4.5)])) { #expect($0.schema.version == ModelVersion(rawValue: 2)) }
    }

    @Test func planSaysWhatItTakesBeforeAnythingIsWritten() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let old = try note([Describe.attribute("x", .integer16), Describe.attribute("y", optional: true)])
        try store.open(old) { fixture in
            for number in 0..<3 { _ = try fixture.insert("Note", ["x": .integer(Int64(number)), "y": .string("")]) }
        }
        let new = try note(
            [
                Describe.attribute("x", .string), Describe.attribute("z", from: "y"),
                Describe.attribute("w", optional: true),
            ],
            indexes: [FetchIndexDescription(name: "byZ", elements: [FetchIndexElement("z")])])
        try store.open { opened in
            let plan = try opened.migrationPlan(to: new)
            #expect(
                plan.steps.map(\.description) == [
                    "Note.x was a 16-bit integer and is now a string. (rewrite, 3 objects)",
                    "Note.y is now called z.",
                    "Note.z is now required. (scan, 3 objects)",
                    "Note.w is new.",
                    "Note has a new index byZ. (build, 3 objects)",
                ])
            #expect(!plan.isConstantTime && plan.objectCount == 9)
            try #expect(opened.migrationPlan(to: old).isEmpty)
            #expect(opened.schema.version == ModelVersion(rawValue: 1))
        }
    }

    @Test func attributeOfTheChildrenMovesToTheParentWithItsValues() throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(parent: [PropertyDescription], child: [PropertyDescription]) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Base", isAbstract: true, properties: parent),
                EntityDescription(name: "Left", superentityName: "Base", properties: child),
                EntityDescription(name: "Right", superentityName: "Base", properties: child))
        }
        let name = Describe.attribute("name")
        let ids = try store.open(model(parent: [], child: [name])) { fixture in
            try ["Left", "Right"].map { try fixture.insert($0, ["name": .string($0)]) }
        }
        for (parent, child) in [([name], []), ([], [name])] {
            try store.open(model(parent: parent, child: child)) { fixture in
                let values = try ids.map { try fixture.values($0)?["name"] }
                #expect(values == [.string("Left"), .string("Right")])
            }
        }
    }

    @Test func migrationThatIsNotAllowedIsRefused() throws {
        let store = MigratedStore()
        defer { store.remove() }
        try store.open(note([Describe.attribute("x")])) { _ in }
        var options = StoreOptions()
        options.migration.isAllowed = false
        let error = #expect(throws: StrataError.self) {
            try store.open(note([Describe.attribute("y", optional: true)]), options) { _ in }
        }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        try store.open(note([Describe.attribute("x")]), options) { _ in }
    }
}
