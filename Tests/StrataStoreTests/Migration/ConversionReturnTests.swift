import Foundation
import StrataModel
import StrataStore
import Testing

/// Attributes that change their type and get it back: values that were not changed in between are as they were, also where
/// the conversion lost something.
struct ConversionReturnTests {
    private let store = MigratedStore()

    private func model(_ type: AttributeType?, label: String = "") throws -> ManagedObjectModel {
        let link = type.map { [Describe.attribute("link", $0, optional: true)] } ?? []
        let others = label.isEmpty ? [] : [Describe.attribute(label, optional: true)]
        return try Describe.model(EntityDescription(name: "Page", properties: link + others))
    }

    struct Example: CustomTestStringConvertible, Sendable {
        let from: AttributeType
        let value: AttributeValue
        let to: AttributeType
        /// What the other type makes of it.
        let made: AttributeValue

        var testDescription: String { "\(from) \(value) as \(to)" }
    }

    private static let examples: [Example] = [
        Example(from: .string, value: "a b", to: .uri, made: .url(URL(string: "a%20b")!)),
        Example(from: .string, value: "007", to: .integer32, made: .integer(7)),
        Example(from: .string, value: "1.50", to: .decimal, made: .decimal(1.5)),
        Example(from: .string, value: "YES", to: .boolean, made: .boolean(true)),
        Example(
            from: .string, value: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", to: .uuid,
            made: .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)),
        Example(
            from: .string, value: "2001-01-01T02:00:00+02:00", to: .date,
            made: .date(Date(timeIntervalSinceReferenceDate: 0))),
        Example(from: .double, value: .double(0.1), to: .float, made: .float(0.1)),
    ]

    private func value(_ id: ObjectID, _ fixture: StoreFixture, at moment: EventNumber? = nil) throws -> StateDump.Held?
    {
        try StateDump(fixture.store, at: moment ?? fixture.store.head())[id, "link"]
    }

    @Test(arguments: examples, [false, true]) func valuesAreAsTheyWere(example: Example, isHidden: Bool) throws {
        defer { store.remove() }
        let first = try model(example.from)
        let (id, whole) = try store.open(first) { fixture in
            (try fixture.insert("Page", ["link": example.value]), try fixture.store.head())
        }
        // The same model again, one that the store never had, and the same once more.
        for label in ["", "extra", ""] {
            let converted = try store.open(model(example.to)) { fixture in
                try #expect(value(id, fixture) == .value(example.made))
                return try fixture.store.head()
            }
            if isHidden { try store.open(model(nil)) { _ in } }
            try store.open(isHidden ? first : model(example.from, label: label)) { fixture in
                for moment in try [whole, converted, fixture.store.head()] {
                    try #expect(value(id, fixture, at: moment) == .value(example.value), "\(moment)")
                }
                #expect(try fixture.store.convertedState(at: converted)?.problems.isEmpty ?? true)
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
    }

    @Test func aValueThatWasChangedIsConverted() throws {
        defer { store.remove() }
        let pages = try store.open(model(.string)) { fixture in
            try ["a b", "c d"].map { try fixture.insert("Page", ["link": .string($0)]) }
        }
        let moment = try store.open(model(.uri)) { fixture in
            let moment = try fixture.store.head()
            try fixture.update(pages[0], ["link": .url(#require(URL(string: "e%20f")))])
            return moment
        }
        try store.open(model(.string)) { fixture in
            try #expect(value(pages[0], fixture) == .value("e%20f"))
            try #expect(value(pages[1], fixture) == .value("c d"))
            for (page, text) in zip(pages, ["a b", "c d"]) {
                try #expect(value(page, fixture, at: moment) == .value(.string(text)))
            }
            #expect(try fixture.store.convertedState(at: moment)?.problems.isEmpty ?? true)
        }
    }

    /// Over several types.
    @Test func aValueGoesThroughSeveralTypes() throws {
        defer { store.remove() }
        let id = try store.open(model(.string)) { try $0.insert("Page", ["link": "01"]) }
        for type in [AttributeType.integer16, .double, .decimal] { try store.open(model(type)) { _ in } }
        try store.open(model(.string)) { try #expect(value(id, $0) == .value("01")) }
        try store.open(model(.integer64)) { fixture in
            try fixture.update(id, ["link": .integer(2)])
        }
        try store.open(model(.string)) { try #expect(value(id, $0) == .value("2")) }
    }
}
