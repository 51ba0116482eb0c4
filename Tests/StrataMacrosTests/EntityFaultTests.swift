import Testing

/// What is wrong with the class.
@Suite struct EntityFaultTests {
    @Test func aStructIsNoEntity() {
        expectFaults(
            in: "@Entity struct Movie {\n    var title: String\n}",
            [.init(message: "@Entity applies to a class that inherits from ManagedObject.", line: 1, column: 1)])
    }

    @Test func aClassWithoutSuperclassIsToldToInherit() {
        expectFaults(
            in: "@Entity class Movie {\n    var title: String\n}",
            [
                .init(
                    message: "Movie must inherit from ManagedObject or from another entity.", line: 1, column: 15,
                    fixIts: ["insert 'ManagedObject'"])
            ],
            fixed: "@Entity class Movie: ManagedObject {\n    var title: String\n}")
    }

    @Test func aProtocolIsNotTakenForTheSuperclass() {
        expectFaults(
            in: "@Entity class Movie: Identifiable {\n}",
            [
                .init(
                    message: "Movie must inherit from ManagedObject or from another entity.", line: 1, column: 15,
                    fixIts: ["insert 'ManagedObject'"])
            ],
            fixed: "@Entity class Movie: ManagedObject, Identifiable {\n}")
    }

    @Test func theClassOfCoreDataIsNoSuperclass() {
        expectFaults(
            in: "@Entity class Movie: NSManagedObject, Identifiable {\n    var title: String\n}",
            [
                .init(
                    message: "An entity inherits from Strata's ManagedObject, and not from NSManagedObject.", line: 1,
                    column: 22, fixIts: ["replace 'NSManagedObject' with 'ManagedObject'"])
            ],
            fixed: "@Entity class Movie: ManagedObject, Identifiable {\n    var title: String\n}")
    }

    @Test func twoMacrosCannotWriteTheAccessors() {
        expectFaults(
            in: "@Entity @Observable class Movie: ManagedObject {\n    var title: String\n}",
            [
                .init(
                    message: "@Observable and @Entity cannot both write the accessors. Objects of the view context are "
                        + "observable without it, and those of other contexts with 'observesObjects'.",
                    line: 1, column: 9)
            ])
    }

    @Test func anEntityIsBoundToNoActor() {
        expectFaults(
            in: "@Entity @MainActor class Movie: ManagedObject {\n    var title: String\n}",
            [
                .init(
                    message:
                        "An entity cannot be bound to an actor: each object belongs to the isolation of its context.",
                    line: 1, column: 9)
            ])
    }

    @Test func aGenericClassIsNoEntity() {
        expectFaults(
            in: "@Entity class Box<Content>: ManagedObject {\n}",
            [
                .init(
                    message: "An entity cannot be generic: the model knows it by one name and one list of properties.",
                    line: 1, column: 18)
            ])
    }

    @Test func aDesignatedInitializerIsMadeConvenience() {
        expectFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    var title: String

                    /// Makes one.
                    public init(title: String) {}
                }
                """,
            [
                .init(
                    message: "An initializer of an entity must be 'convenience' and call 'self.init(context:)'.",
                    line: 5, column: 12, fixIts: ["insert 'convenience'"])
            ],
            fixed: """
                @Entity class Movie: ManagedObject {
                    var title: String

                    /// Makes one.
                    public convenience init(title: String) {}
                }
                """)
    }

    @Test func convenienceAndRequiredInitializersAreFine() {
        expectNoFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    convenience init(title: String, context: ManagedObjectContext) { self.init(context: context) }
                    required init(_ seed: _ObjectSeed) { super.init(seed) }
                }
                """)
    }

    @Test func aPropertyUnderAConditionIsRefused() {
        expectFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    #if DEBUG
                    var trace: String?
                    #endif
                }
                """,
            [
                .init(
                    message: "A property of the model cannot depend on '#if': every build must have the same model.",
                    line: 3, column: 5)
            ])
    }

    @Test func whatIsNotStoredMayDependOnAnything() {
        expectNoFaults(
            in: """
                @Entity class Movie: ManagedObject {
                    #if DEBUG
                    var trace: String { "" }
                    @Transient var count = 0
                    static let limit = 3
                    #endif
                }
                """)
    }
}
