import Testing

/// What is wrong with a variable.
@Suite struct VariableFaultTests {
    @Test(arguments: [
        ("0.0", "Double"), ("0", "Int"), ("-1", "Int"), ("\"\"", "String"), ("false", "Bool"), ("Place()", "Place"),
    ])
    func aMissingTypeIsWrittenWhereTheValueTellsIt(value: String, type: String) {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var rating = \(value)\n}",
            [
                .init(
                    message: "'rating' needs a type annotation: a macro cannot see the type of its value.", line: 2,
                    column: 9, fixIts: ["insert ': \(type)'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var rating: \(type) = \(value)\n}")
    }

    @Test func aMissingTypeThatTakesMoreToKnowIsOnlySaid() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var rating = standard\n}",
            [
                .init(
                    message: "'rating' needs a type annotation: a macro cannot see the type of its value.", line: 2,
                    column: 9)
            ])
    }

    @Test func aConstantBecomesAVariable() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    let title: String\n}",
            [
                .init(
                    message: "'title' must be a 'var': the values of a managed object come from the store.", line: 2,
                    column: 5, fixIts: ["replace 'let' with 'var'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var title: String\n}")
    }

    @Test func severalVariablesBecomeOneEach() {
        let message = "Each property of an entity is declared by a 'var' of its own."
        expectFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    /// Where.
                    @Attribute(.indexed) public var x, y: Double
                    var title: String
                }
                """,
            [.init(message: message, line: 3, column: 37, fixIts: ["write one 'var' for each"])],
            fixed: """
                @Entity class Movie: ManagedObject {
                    /// Where.
                    @Attribute(.indexed) public var x: Double
                    @Attribute(.indexed) public var y: Double
                    var title: String
                }
                """)
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var a: Int = 1, b: String?\n}",
            [.init(message: message, line: 2, column: 9, fixIts: ["write one 'var' for each"])],
            fixed: "@Entity class Movie: ManagedObject {\n    var a: Int = 1\n    var b: String?\n}")
    }

    @Test func observersAreRefusedWithAReason() {
        expectFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    var rating: Double = 0 {
                        didSet { print(rating) }
                    }
                }
                """,
            [
                .init(
                    message: "'rating' cannot have property observers: merges, undo and key-value access "
                        + "do not call them. Override willSave(), or wrap it in a computed property.",
                    line: 2, column: 28, fixIts: ["remove 'observers'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var rating: Double = 0\n}")
    }

    @Test func lazyVariablesStayOutsideTheModel() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    lazy var words: [String] = []\n}",
            [
                .init(
                    message: "'words' cannot be 'lazy' and part of the model; mark it @Transient to keep it outside.",
                    line: 2, column: 5, fixIts: ["insert '@Transient'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    @Transient lazy var words: [String] = []\n}")
        expectNoFaults(in: "@Entity class Movie: ManagedObject {\n    @Transient lazy var words: [String] = []\n}")
    }

    @Test func weakVariablesLoseTheWord() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    weak var owner: Person?\n}",
            [
                .init(
                    message: "'owner' cannot be 'weak': a relationship never keeps its target alive.", line: 2,
                    column: 5, fixIts: ["remove 'weak'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var owner: Person?\n}")
    }

    @Test func aPropertyOfTheParentCannotBeDeclaredAgain() {
        expectFaults(
            in: "@Entity class Employee: Person {\n    override var name: String\n}",
            [
                .init(
                    message: "'name' is a property of the parent entity and cannot be declared again.", line: 2,
                    column: 5)
            ])
    }

    @Test func aTupleIsNoProperty() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var (a, b): (Int, Int) = (1, 2)\n}",
            [.init(message: "A property of an entity is declared by a plain name.", line: 2, column: 9)])
    }

    @Test func namesThatObjectsOrPredicatesUseAreReserved() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var description: String\n}",
            [
                .init(
                    message: "'description' is a reserved name: it has a meaning of its own in objects or in "
                        + "predicates.", line: 2, column: 9)
            ])
    }

    @Test func aRawIdentifierWithBlanksIsNoName() {
        expectFaults(
            in: "@Entity class Movie: ManagedObject {\n    var `my title`: String\n}",
            [
                .init(
                    message: "'my title' is no name for a property of a model: use letters, digits and underscores.",
                    line: 2, column: 9)
            ])
    }

    @Test func aTransientVariableNeedsAValue() {
        expectFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    @Transient var count: Int
                    @Transient var cache: [String]?
                    @Transient var hits = 0
                }
                """,
            [
                .init(
                    message: "'count' is @Transient, a plain Swift property, and needs an initial value.", line: 2,
                    column: 20)
            ])
    }

    @Test func computedAndStaticPropertiesAreNoBusinessOfTheModel() {
        expectNoFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    static let limit = 3
                    static var count = 0
                    class var word: String { "" }
                    var short: String { title }
                    var both: Int { get { 1 } set {} }
                    private(set) var title: String
                    internal var `default`: Bool = false
                    var old: String!
                    var new: Optional<Int>
                    func act() {}
                }
                """)
    }
}
