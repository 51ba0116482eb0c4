import StrataModel
import Testing

@testable import StrataMacrosParts

/// What is wrong with what a property says of itself.
@Suite struct PropertyFaultTests {
    @Test func aVariableIsAttributeOrRelationship() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    @Attribute @Relationship var owner: Person?\n}",
            [.init(message: "'owner' cannot be both @Attribute and @Relationship.", line: 2, column: 16)])
    }

    @Test func aVariableIsInTheModelOrOutside() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    @Attribute(.indexed) @Transient var count: Int = 0\n}",
            [.init(message: "'count' cannot be both @Attribute and @Transient.", line: 2, column: 26)])
    }

    @Test func attributesAreWrittenOnce() {
        expectFaults(
            in:
                "@Entity class Movie: ManagedObject {\n    @Attribute(.indexed) @Attribute(.unique) var title: String\n}",
            [
                .init(
                    message: "@Attribute is written twice.", line: 2, column: 26,
                    fixIts: ["remove '@Attribute(.unique)'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    @Attribute(.indexed) var title: String\n}")
    }

    @Test(arguments: ["String", "Int?", "Foundation.Date?"])
    func aValueIsNoRelationship(type: String) {
        let name = type.split(separator: ".").last!.replacing("?", with: "")
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    @Relationship(.required) var year: \(type)\n}",
            [
                .init(
                    message:
                        "'year' is an attribute, because its type is \(name): write @Attribute in place of @Relationship.",
                    line: 2, column: 5)
            ])
    }

    @Test func whatIsNotStoredHasNoAttributes() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    @Attribute(.indexed) var short: String { title }\n}",
            [
                .init(
                    message: "@Attribute has no meaning here: 'short' is not a stored variable of the object.",
                    line: 2, column: 5, fixIts: ["remove '@Attribute(.indexed)'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var short: String { title }\n}")
    }

    @Test(arguments: [
        (".transformable(by: \"Color\")", "transformable", ""), (".transformable", "transformable", ""),
        (".transient", "transient", ", or it must have an initial value"),
    ])
    func whatHasNoDefaultIsOptional(option: String, kind: String, other: String) {
        expectFaults(
            in: "@Entity class Tie: ManagedObject {\n    @Attribute(\(option)) var tint: Color\n}",
            [
                .init(
                    message: "'tint' is \(kind) and has no value until one is set: its type must be optional\(other).",
                    line: 2, column: 28 + option.count, fixIts: ["replace 'Color' with 'Color?'"])
            ],
            fixed: "@Entity class Tie: ManagedObject {\n    @Attribute(\(option)) var tint: Color?\n}")
        guard kind == "transformable" else { return }
        expectFaults(
            in: "@Entity class Tie: ManagedObject {\n    @Attribute(\(option)) var tint: Color? = .red\n}",
            [
                .init(
                    message: "'tint' is \(kind) and cannot have an initial value; set it in awakeFromInsert().",
                    line: 2, column: 37 + option.count)
            ])
    }

    @Test func aTransientAttributeTakesNoOtherOption() {
        expectFaults(
            in: "@Entity class Tie: ManagedObject {\n    @Attribute(.transient, .indexed) var tint: Color?\n}",
            [
                .init(
                    message: "'tint' is transient: it is kept in memory only and takes no other option.", line: 2,
                    column: 5)
            ])
    }

    @Test(arguments: [
        ("UUID", "UUID()"), ("UUID", ".init()"), ("Foundation.UUID", "Foundation.UUID.init()"), ("Date", "Date()"),
        ("Date", "Date.now"), ("Date", ".now"), ("Date?", ".now"), ("Date", "Date(timeIntervalSinceNow: 60)"),
    ])
    func aDefaultThatChangesIsRefused(type: String, value: String) {
        expectFaults(
            in: "@Entity class Tie: ManagedObject {\n    var id: \(type) = \(value)\n}",
            [
                .init(
                    message: "The default of 'id' is part of the model and evaluated once, so '\(value)' would be the "
                        + "same in every object; set it in awakeFromInsert().",
                    line: 2, column: 16 + type.count)
            ])
    }

    @Test func defaultsThatStayAreFine() {
        expectNoFaults(
            in: """
                @Entity class Tie: ManagedObject {
                    var worn: Date = Date(timeIntervalSinceReferenceDate: 0)
                    var first: Date = .distantPast
                    var clock: Clock = .now
                    var place: Place = .init()
                    var id: UUID = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
                }
                """)
    }

    @Test func aToOneIsOptional() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    @Relationship(.required) var owner: Person\n}",
            [
                .init(
                    message: "The to-one relationship 'owner' must be optional; '.required' makes a save refuse nil.",
                    line: 2, column: 41, fixIts: ["replace 'Person' with 'Person?'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    @Relationship(.required) var owner: Person?\n}")
    }

    @Test(arguments: ["[Movie]", "Set<Movie>", "Set<Movie>?", "Array<Movie>"])
    func aToManyIsNoCollection(type: String) {
        expectFaults(
            in: "@Entity class Person: ManagedObject {\n    @Relationship var movies: \(type)\n}",
            [
                .init(
                    message: "The to-many relationship 'movies' must have the type ToMany<Movie>.", line: 2,
                    column: 31, fixIts: ["replace '\(type)' with 'ToMany<Movie>'"])
            ],
            fixed: "@Entity class Person: ManagedObject {\n    @Relationship var movies: ToMany<Movie>\n}")
    }

    @Test func aToManyIsNeitherOptionalNorInitializedNorAnAttribute() {
        expectFaults(
            in: """
                @Entity class Person: ManagedObject {
                    var movies: ToMany<Movie>?
                    var ties: ToMany<Tie> = []
                    @Attribute(.indexed) var pets: ToMany<Pet>
                }
                """,
            [
                .init(
                    message: "The to-many relationship 'movies' cannot be optional: it may be empty.", line: 2,
                    column: 17, fixIts: ["replace 'ToMany<Movie>?' with 'ToMany<Movie>'"]),
                .init(
                    message: "'ties' is a relationship and cannot have an initial value; set it in awakeFromInsert().",
                    line: 3, column: 29),
                .init(
                    message: "'pets' is a relationship: write @Relationship in place of @Attribute.", line: 4,
                    column: 5),
            ])
    }

    @Test func theReservedNamesAreThoseOfTheModel() {
        #expect(ReservedName.all == ReservedNames.properties)
    }
}
