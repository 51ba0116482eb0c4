import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Random changes by one context, by others, by merges, rollbacks and deletions beside many controllers: what a table
/// makes of the changes it is told of must always be what a new fetch finds.
@Suite(.verifiesStores) struct RandomResultsTests {
    @Test(arguments: RandomTesting.seeds)
    func whatIsToldGivesTheNewResultsAlways(_ seed: UInt64) throws {
        var run = try ResultsRun(seed: seed)
        var steps: [String] = []
        for step in 0..<120 {
            steps.append(try run.step())
            if let problem = try run.problem() {
                Issue.record("seed \(seed), step \(step): \(problem)\n\(steps.suffix(15).joined(separator: "\n"))")
                return
            }
        }
    }
}

/// One controller with the table that it tells.
private final class Watched {
    let controller: FetchedResultsController<Person>
    let table = Table<Person>()
    let name: String
    var shown: [ObjectID: [String]] = [:]

    init(_ controller: FetchedResultsController<Person>, _ name: String) throws {
        self.controller = controller
        self.name = name
        controller.delegate = table
        try controller.performFetch()
        table.load(controller)
        try remember()
    }

    func remember() throws {
        shown = [:]
        // Objects show what is pending, whatever the results do.
        guard controller.observedKeyPaths == nil, controller.fetchRequest.includesPendingChanges else { return }
        let context = controller.managedObjectContext
        let there = Set(
            try context.fetchObjectIDs(FetchRequest<Person>()) + context.fetchObjectIDs(FetchRequest<Club>()))
        for person in controller.fetchedObjects.map(Array.init) ?? [] {
            shown[person.objectID] = try print(of: person, there)
        }
    }

    /// Everything of its own that an object shows. Links to objects whose deletion is pending, or that others deleted
    /// under a pending link, count for nobody but the next save.
    private func print(of person: Person, _ there: Set<ObjectID>) throws -> [String] {
        func ids(_ members: some Sequence<some ManagedObject>) -> String {
            members.map(\.objectID).filter(there.contains).sorted().description
        }
        return [
            person.name, "\(String(describing: person.boss?.objectID))", ids(person.friends), ids(person.reports),
            "\(String(describing: person.passport?.objectID))", ids(person.clubs),
            "\(String(describing: (person as? Employee)?.salary))",
        ]
    }

    func problem() throws -> String? {
        if let fault = table.faults.first { return "\(name): \(fault)\n\(table.calls.joined(separator: ", "))" }
        let context = controller.managedObjectContext
        let expected = try context.fetchObjectIDs(controller.fetchRequest)
        if table.flat != expected {
            return "\(name): shown \(table.flat), found \(expected)\n\(table.calls.joined(separator: ", "))"
        }
        let fresh = FetchedResultsController(
            fetchRequest: controller.fetchRequest, context: context, sectionNameKeyPath: controller.sectionNameKeyPath,
            sectionNaming: controller.sectionNaming)
        try fresh.performFetch()
        let sections = (fresh.sections ?? []).map { Table<Person>.Section(name: $0.name, ids: $0.objects.objectIDs) }
        if table.sections != sections {
            return "\(name): sections \(table.sections), found \(sections)\n\(table.calls.joined(separator: ", "))"
        }
        for (place, id) in expected.enumerated() where place % 3 == 0 {
            guard let path = controller.indexPath(forObjectID: id), controller.object(at: path).objectID == id else {
                return "\(name): \(id) is not found in its place"
            }
        }
        return try updateProblem()
    }

    private func updateProblem() throws -> String? {
        let before = shown
        try remember()
        for (id, values) in shown where before[id] != nil && before[id] != values && !table.told.contains(id) {
            return "\(name): \(id) is another, and nobody was told: \(before[id] ?? []) -> \(values)"
        }
        table.forget()
        return nil
    }
}

private struct ResultsRun {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    var random: SeededGenerator
    var watched: [Watched] = []
    var counter = 0

    init(seed: UInt64) throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        other = container.newBackgroundContext()
        random = SeededGenerator(seed: seed)
        for context in [context, other] { context.mergePolicy = .mergeByPropertyObjectTrump }
        for _ in 0..<12 { _ = try change(context) }
        try context.save()
        for _ in 0..<8 { watched.append(try watch()) }
    }

    // MARK: Controllers

    private static let predicates: [String?] = [
        nil, nil, "name > 'b'", "name != nil AND NOT name BEGINSWITH 'c'", "boss.name == 'a'", "NOT boss.name == 'a'",
        "boss.boss.name >= 'b'", "ANY friends.name == 'c'", "ALL reports.name > 'a'", "NONE friends.boss.name == 'b'",
        "passport != nil", "passport.number ENDSWITH '1'", "boss.passport.number CONTAINS '2'",
        "ANY clubs.title == 'x'", "reports.@count > 1", "friends.@count >= 2", "clubs.@count == 1",
        "ANY friends.clubs.title == 'y'",
        "SUBQUERY(reports, $r, $r.name == 'a' OR ANY $r.friends.name == 'b').@count > 0",
        "SUBQUERY(friends, $f, $f.boss == SELF).@count == 0", "ANY clubs.members.name == 'a'",
        "boss.friends.@count > 0 OR name == 'd'", "reports.name.@max == 'c'",
    ]
    private static let orders: [[SortDescription]] = [
        [], [SortDescription("name")], [SortDescription("name", isAscending: false)],
        [SortDescription("name", folding: [.caseInsensitive, .diacriticInsensitive])],
        [SortDescription("boss.name"), SortDescription("name", isAscending: false)],
        [SortDescription("boss.boss.name", isAscending: false, nullPlacement: .last)],
        [SortDescription("passport.number"), SortDescription("boss")],
    ]

    private mutating func watch() throws -> Watched {
        let format = Self.predicates.randomElement(using: &random).flatMap { $0 }
        let order = Self.orders.randomElement(using: &random) ?? []
        let predicate = try format.map { try FetchPredicate(format: $0) }
        let onlyEmployees = Int.random(in: 0..<6, using: &random) == 0
        var request = try FetchRequest<Person>(
            entityName: onlyEmployees ? "Employee" : "Person", where: predicate, sortedBy: order)
        request.includesSubentities = Int.random(in: 0..<6, using: &random) > 0
        request.includesPendingChanges = Int.random(in: 0..<6, using: &random) > 0
        if Int.random(in: 0..<6, using: &random) == 0 {
            request.fetchLimit = Int.random(in: 1...4, using: &random)
            request.fetchOffset = Int.random(in: 0...2, using: &random)
        }
        let sectionPath = Bool.random(using: &random) ? order.first?.keyPath : nil
        let isFolded = order.first?.folding.isEmpty == false
        let controller = FetchedResultsController(
            fetchRequest: request, context: context, sectionNameKeyPath: sectionPath,
            sectionNaming: isFolded ? .initial : .value,
            observing: Int.random(in: 0..<5, using: &random) == 0 ? ["boss.name"] : nil)
        let name =
            "\(request.entityName) \(format ?? "all") by \(order.map(\.keyPath)) in \(sectionPath ?? "-") "
            + "\(request.fetchLimit)+\(request.fetchOffset)"
        return try Watched(controller, name)
    }

    // MARK: Steps

    mutating func step() throws -> String {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7:
            let text = try (0..<Int.random(in: 1...3, using: &random)).map { _ in try change(context) }
            context.processPendingChanges()
            return text.joined(separator: "; ")
        case 7..<10:
            let text = try (0..<Int.random(in: 0...4, using: &random)).map { _ in try change(context) }
            try save(context)
            return "save " + text.joined(separator: "; ")
        case 10..<14:
            if Bool.random(using: &random) { other.refreshAllObjects() }
            let text = try (0..<Int.random(in: 1...4, using: &random)).map { _ in try change(other) }
            try save(other)
            return "other " + text.joined(separator: "; ")
        case 14..<17:
            context.refreshAllObjects()
            return "refresh"
        case 17:
            context.rollback()
            return "rollback"
        case 18:
            let people = try people(context)
            if let person = people.randomElement(using: &random) {
                context.refresh(person, mergeChanges: Bool.random(using: &random))
            }
            return "refresh one"
        default:
            let place = Int.random(in: 0..<watched.count, using: &random)
            watched[place] = try watch()
            return "watch \(watched[place].name)"
        }
    }

    /// What breaks a rule is not saved.
    private func save(_ context: ManagedObjectContext) throws {
        do {
            try context.save()
        } catch let error as StrataError {
            guard
                [.constraintMerge, .merge, .validationMultipleErrors, .deletedObject].contains(error.code)
                    || (1550...1690).contains(error.code.rawValue)
            else { throw error }
            context.rollback()
        }
    }

    func problem() throws -> String? {
        context.processPendingChanges()
        for watched in watched { if let problem = try watched.problem() { return problem } }
        return nil
    }

    private func people(_ context: ManagedObjectContext) throws -> [Person] {
        try context.fetch(FetchRequest<Person>())
    }

    private mutating func change(_ context: ManagedObjectContext) throws -> String {
        let people = try people(context)
        let one = people.randomElement(using: &random)
        let two = people.randomElement(using: &random)
        let clubs = try context.fetch(FetchRequest<Club>())
        guard let one, let two, people.count > 4, Int.random(in: 0..<8, using: &random) > 0 else {
            let made =
                Int.random(in: 0..<4, using: &random) == 0 ? Employee(context: context) : Person(context: context)
            made.name = name()
            made.boss = one
            return "new \(made.objectID)"
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            one.name = name()
            return "name of \(one.objectID) = \(one.name)"
        case 3, 4:
            one.boss = Bool.random(using: &random) ? two : nil
            return "boss of \(one.objectID) = \(String(describing: one.boss?.objectID))"
        case 5, 6:
            if one.friends.contains(two) { one.friends.remove(two) } else { one.friends.insert(two) }
            return "friends \(one.objectID) \(two.objectID)"
        case 7:
            guard let passport = one.passport else {
                counter += 1
                let passport = Passport(context: context)
                passport.number = "\(counter)"
                one.passport = passport
                return "passport of \(one.objectID)"
            }
            if Bool.random(using: &random) { two.passport = passport } else { context.delete(passport) }
            return "passport \(passport.objectID) to \(two.objectID) or away"
        case 8, 9:
            guard let club = clubs.randomElement(using: &random), clubs.count > 2 else {
                Club(context: context).title = ["x", "y", "z"].randomElement(using: &random) ?? ""
                return "club"
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                club.title = ["x", "y"].randomElement(using: &random) ?? ""
            }
            if one.clubs.contains(club) { one.clubs.remove(club) } else { one.clubs.insert(club) }
            return "club \(club.objectID) of \(one.objectID)"
        case 10:
            if let club = clubs.randomElement(using: &random), clubs.count > 3 { context.delete(club) }
            return "a club goes"
        default:
            context.delete(one)
            return "\(one.objectID) goes"
        }
    }

    private mutating func name() -> String { ["a", "b", "c", "d", "A", "é", "e"].randomElement(using: &random) ?? "" }
}
