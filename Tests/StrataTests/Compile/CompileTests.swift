import Foundation
import Testing

/// What must and what must not compile, with the compiler's own word for it.
@Suite struct CompileTests {
    @Test(arguments: [
        [], ["-default-isolation", "MainActor"],
        ["-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility"],
        ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"],
    ])
    func entitiesOfEveryAccessLevelCompile(options: [String]) throws {
        let failures = try Compiler().failures(in: everyAccessLevel, options: options + ["-package-name", "p"])
        #expect(failures.isEmpty)
    }

    @Test(arguments: [[], ["-default-isolation", "MainActor"]])
    func anEntityOfAnotherModuleHasSubentities(options: [String]) throws {
        let failures = try Compiler().failures(
            in: staffClient, libraries: [("Staff", staffLibrary)], options: options)
        #expect(failures.isEmpty)
    }

    /// The types of attributes come with the module, as with Core Data's.
    @Test func theTypesOfAttributesNeedNoOtherImport() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata

                struct Values { var date: Date?, data: Data?, decimal: Decimal?, url: URL?, uuid: UUID? }
                func hourAgo() -> HistoryMoment { .date(Date.now.addingTimeInterval(-3600)) }
                """, options: ["-enable-upcoming-feature", "MemberImportVisibility"])
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func relationshipsTakeTheirOptionsBeforeAndAfter() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata

                @Entity final class Tie: ManagedObject { var owner: Person?; var friend: Person?; var fan: Person? }
                @Entity final class Person: ManagedObject {
                    @Relationship(.ordered, .minCount(1), inverse: \\Tie.owner) var ties: ToMany<Tie>
                    @Relationship(deleteRule: .cascade, inverse: \\Tie.friend, .ordered, .maxCount(3)) var a: ToMany<Tie>
                    @Relationship(inverse: \\Tie.fan, .ordered) var b: ToMany<Tie>
                    @Relationship(.noInverse) var c: Tie?
                    @Relationship var d: Person?
                }
                """)
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(arguments: ["Strata", "StrataGraph"])
    func oneImportGivesEveryName(module: String) throws {
        let failures = try Compiler().failures(
            in: """
                import \(module)

                func make(_ id: ObjectID, _ value: AttributeValue, _ error: StrataError) throws -> ManagedObjectModel {
                    let name = AttributeDescription(name: "name", type: .string, isOptional: true)
                    let tags = RelationshipDescription(name: "tags", destinationEntityName: "Tag", isToMany: true)
                    let predicate: FetchPredicate = .equal("name", "x")
                    _ = (id.row, value.isNull, error.code, predicate, SortDescription("name"), OutputColumn("name"))
                    return try ManagedObjectModel(entities: [
                        EntityDescription(name: "Tag", properties: [.attribute(name), .relationship(tags)])
                    ])
                }

                func use(_ model: ManagedObjectModel, _ plan: MigrationPlan) throws {
                    let container = PersistentContainer(name: "A", model: model)
                    _ = FetchRequest<ManagedObject>(entityName: "Tag")
                    _ = (container, plan.isEmpty)
                }
                """, options: ["-enable-upcoming-feature", "MemberImportVisibility"])
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func anInverseOfAnotherEntityIsRefused() throws {
        try expectRefusals(
            in: """
                import Strata

                @Entity final class Tie: ManagedObject { var owner: Person? }
                @Entity final class Movie: ManagedObject { var owner: Person? }
                @Entity final class Person: ManagedObject {
                    @Relationship(inverse: \\Tie.owner) var movies: ToMany<Movie>  // refused
                    @Relationship(inverse: \\Tie.owner) var ties: ToMany<Tie>
                }
                """)
    }

    @Test func objectsStayInTheIsolationOfTheirContext() throws {
        try expectRefusals(
            in: """
                import Strata

                @Entity final class Dog: ManagedObject { var name: String }

                func sendable<Value: Sendable>(_ value: Value) {}

                func send(_ dog: Dog, _ container: PersistentContainer) async throws {
                    sendable(dog)  // refused
                    sendable(dog.objectID)
                    sendable(Dog.self)
                    let body: @Sendable () -> Void = { print(dog.name) }  // refused
                    body()
                    _ = try await container.performBackgroundTask { context in  // refused
                        Dog(context: context)
                    }
                    _ = try await container.performBackgroundTask { context in Dog(context: context).objectID }
                }
                """)
    }

    @Test func contextsAndResultsStayInTheirIsolation() throws {
        try expectRefusals(
            in: """
                import Strata

                @Entity final class Dog: ManagedObject { var name: String; var owner: Dog? }

                func sendable<Value: Sendable>(_ value: Value) {}

                func send(
                    _ context: ManagedObjectContext, _ controller: FetchedResultsController<Dog>, _ dog: Dog
                ) throws {
                    sendable(context)  // refused
                    sendable(controller)  // refused
                    sendable(controller.snapshot)
                    sendable(controller.fetchedObjects)  // refused
                    sendable(context.results(for: FetchRequest<Dog>()))  // refused
                    sendable(try dog.frozen())
                    sendable(try dog.frozen().name)
                    sendable(try dog.frozen().owner)
                }

                func enter(_ actor: ContextActor, _ dog: Dog) async throws {
                    await actor.perform { _ in dog.name = "x" }  // refused
                    _ = await actor.perform { context in Dog(context: context) }  // refused
                    _ = await actor.perform { context in Dog(context: context).objectID }
                }

                nonisolated func reach(_ container: PersistentContainer) {
                    _ = container.viewContext  // refused
                }

                @MainActor func watch(_ container: PersistentContainer) async throws {
                    for try await update in container.viewContext.results(for: FetchRequest<Dog>()) {
                        sendable(update)
                        break
                    }
                }

                func follow(_ container: PersistentContainer) async throws {
                    for try await update in container.results(for: FetchRequest<Dog>()) {
                        sendable(update)
                        break
                    }
                }
                """)
    }

    /// What the compiler knows only by following a value through the code, which it does where types have no faults.
    @Test func whatIsHandedOverIsNotUsedAgain() throws {
        try expectRefusals(
            in: """
                import Strata

                @Entity final class Dog: ManagedObject { var name: String }

                func detach(_ context: ManagedObjectContext) {
                    Task.detached { try context.save() }  // refused
                }

                func detach(_ controller: FetchedResultsController<Dog>) {
                    Task.detached { try controller.performFetch() }  // refused
                }

                func adopt(_ container: PersistentContainer) throws {
                    let context = container.newBackgroundContext()
                    let actor = ContextActor(adopting: context)  // refused
                    try context.save()
                    _ = actor
                }

                func give(_ container: PersistentContainer) async throws {
                    let actor = ContextActor(adopting: container.newBackgroundContext())
                    try await actor.perform { context in try context.save() }
                }
                """, stage: .flow)
    }
}

private let everyAccessLevel = """
    public import Foundation
    public import Strata

    nonisolated public enum Mood: String, Sendable { case calm }

    @Entity(.abstract) open class Person: ManagedObject {
        @Attribute(.indexed, .length(1...)) open var name: String
        public private(set) var age: Int = 0
        public package(set) var money: Decimal?
        public var mood: Mood? = .calm
        package var note: String?
        var boss: Person?
        private var secret: Data?
        @Relationship(.ordered, deleteRule: .deny, inverse: \\Person.boss) public var reports: ToMany<Person>
        public convenience init(name: String, context: ManagedObjectContext) {
            self.init(context: context)
            self.name = name
        }
        open override func willSave() { secret = nil }
        open var title: String { "\\(name) \\(age)" }
        public var nick: String? { note }
        @Transient var cache: [String] = []
        @Attribute(.transient) public var speed: Int = defaultSpeed
        @Attribute(.transient) public var pace: Mood = .calm
        @Attribute(.transient) open var trail: [String]? = []
        @Attribute(.transformable) public var tags: [String]?
    }
    nonisolated private let defaultSpeed = 5
    @Entity public final class Employee: Person {
        public var salary: Decimal?
        public override var title: String { "Employee" }
        var isRich: Bool { (salary ?? 0) > 100 }
    }
    @Entity package class Packaged: ManagedObject { package var name: String }
    @Entity fileprivate class Hidden: ManagedObject { var name: String }
    @Entity private class Private: ManagedObject { private var name: String }
    @Entity class Empty: ManagedObject {}
    @Entity final class Qualified: Strata.ManagedObject { var `default`: String; var `internal`: Int = 0 }
    @Entity class `Protocoled`: ManagedObject, Identifiable { var id: UUID }
    public enum Outer {
        @Entity public class Inner: ManagedObject { public var name: String }
        @Entity class Leaf: Outer.Inner { var level: Int = 0 }
    }
    public extension Outer {
        @Entity class Implicit: ManagedObject { var name: String }
    }
    private enum Closed {
        @Entity public class Inner: ManagedObject { public var name: String }
    }

    func use(_ employee: Employee, _ context: ManagedObjectContext) {
        employee.boss = Employee(name: "Ann", context: context)
        employee.reports.insert(employee)
        employee.mood = nil
    }
    let classes: [any ManagedEntity.Type] = [Person.self, Employee.self, Outer.Leaf.self]
    """

private let staffLibrary = """
    public import Strata

    @Entity open class Person: ManagedObject {
        @Attribute(.indexed) open var name: String
        public internal(set) var number: Int = 0
        var hidden: String?
        public var boss: Person?
    }
    """

private let staffClient = """
    import Strata
    import Staff

    @Entity final class Worker: Person {
        var wage: Double = 0
        @Relationship(inverse: \\Person.boss) var reports: ToMany<Person>
    }
    @Entity class Visitor: Staff.Person { var badge: String? }

    func use(_ worker: Worker) {
        worker.name = "Bob"
        worker.wage = Double(worker.number)
        worker.reports.insert(worker)
    }
    """
