import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct PredicateObjectTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
    }

    private func person(_ name: String, reports: [Person] = []) -> Person {
        let person = Person(context: context)
        person.name = name
        for report in reports { report.boss = person }
        return person
    }

    @Test func predicatesHoldForObjectsInMemory() throws {
        let bob = person("Bob"), cid = person("Cid", reports: [person("Dan"), person("Eve")])
        let ann = person("Ann", reports: [bob, cid])
        func holds(_ format: String, _ argument: (any FetchArgument)? = nil) throws -> Bool {
            let predicate =
                format.contains("%") ? try FetchPredicate(format: format, argument) : try FetchPredicate(format: format)
            return try predicate.evaluate(with: ann)
        }
        #expect(try holds("name == 'Ann' AND boss == nil"))
        #expect(try holds("ANY reports == %@", bob))
        #expect(try !holds("boss.name != 'x'"))
        #expect(try holds("%@ IN reports", bob.objectID))
        #expect(try holds("SUBQUERY(reports, $r, $r.reports.@count > 1).@count == 1"))
        #expect(
            try holds("SUBQUERY(reports, $r, SUBQUERY($r.reports, $s, $s.boss.boss == SELF).@count == 2).@count == 1"))
        #expect(try holds("ANY reports.reports.name == 'Eve'"))
        #expect(try holds("length:(name) + reports.@count == 5"))
        // Nobody leads to nobody's reports: all of none, and none of none.
        #expect(try holds("ALL boss.reports.name == 'x'"))
        #expect(try !holds("ANY boss.reports.name == nil"))
        #expect(throws: StrataError.self) { try holds("reports.name == 'Bob'") }
        #expect(throws: StrataError.self) { try holds("nothing == 1") }
    }

    @Test func objectsAreArguments() throws {
        let ann = person("Ann"), bob = person("Bob")
        bob.boss = ann
        try context.save()
        let request = try FetchRequest<Person>(where: try FetchPredicate(format: "boss == %@", ann))
        #expect(try context.fetch(request).map(\.name) == ["Bob"])
        let byFormat = try FetchRequest<Person>(
            format: "name BEGINSWITH %@ OR boss.name == %@", "A", "Ann", sortedBy: [SortDescription("name")], limit: 2)
        #expect(try context.fetch(byFormat).map(\.name) == ["Ann", "Bob"])
        let both = try FetchRequest<Person>(where: try FetchPredicate(format: "SELF IN %@", [ann, bob]))
        #expect(try context.fetch(both).count == 2)
    }
}
