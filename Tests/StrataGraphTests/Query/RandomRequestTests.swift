import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Requests with everything that a request can have, put together at random: each way to run one gives what filtering,
/// sorting and cutting the objects by hand gives; in the past, now, with unsaved changes, without them, and in a child.
@Suite(.verifiesStores) struct RandomRequestTests {
    enum Time: CaseIterable { case past, present, unsaved, unsavedLeftOut, child }

    private static let names = ["Ann", "ann", "Änn", "A\u{308}nn", "B 9", "B 10", "b 2", "", "Zoë", "Zoe", "9", "09"]
    private static let formats = [
        "name BEGINSWITH[c] 'a'", "name ==[cd] 'ann'", "boss != nil", "boss == nil", "boss.name LIKE '*n'",
        "ANY friends.name == 'Ann'", "NONE friends.name BEGINSWITH 'B'", "ALL friends.name != ''",
        "reports.@count > 1", "SUBQUERY(friends, $f, $f.boss == SELF).@count > 0", "boss IN friends", "boss == SELF",
        "name < boss.name", "friends.@count == reports.@count", "ANY clubs.title == 'Chess'", "clubs.@count == 0",
        "NOT name CONTAINS 'n'", "name MATCHES '[A-Z] [0-9]+'", "passport.number != nil OR boss.passport == nil",
        "ANY friends.clubs.members.name == 'Zoe'", "length:(name) > 2", "ANY friends == boss", "TRUEPREDICATE",
        "TERNARY(boss == nil, name, boss.name) == 'Ann'", "boss.boss.name != nil", "SELF IN boss.reports",
        "name IN {'Ann', 'Zoe', nil}", "name BETWEEN[c] {'a', 'b 9'}", "boss.friends.@count > 1",
        "SUBQUERY(reports, $r, ANY $r.friends.name == 'ann').@count != 1", "FALSEPREDICATE", "name != boss.name",
    ]

    let container: PersistentContainer
    let context: ManagedObjectContext
    let then: EventNumber

    init() throws {
        var random = SeededGenerator(seed: 4)
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let clubs = ["Chess", "Go"].map { title in
            let club = Club(context: context)
            club.title = title
            return club
        }
        func make(_ count: Int) throws {
            for _ in 0..<count {
                let isEmployee = Bool.random(using: &random)
                let person = isEmployee ? Employee(context: context) : Person(context: context)
                person.name = Self.names.randomElement(using: &random) ?? ""
                if let employee = person as? Employee, Bool.random(using: &random) { employee.salary = 1.5 }
                let all = try context.fetch(FetchRequest<Person>())
                if Int.random(in: 0..<3, using: &random) > 0 { person.boss = all.randomElement(using: &random) }
                person.friends = ToMany(all.filter { _ in Int.random(in: 0..<9, using: &random) == 0 })
                person.clubs = ToMany(clubs.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
            }
        }
        try make(25)
        try context.save()
        then = context.eventNumber
        try make(15)
        let saved = try context.fetch(FetchRequest<Person>())
        saved.prefix(4).forEach(context.delete)
        try context.save()
        try make(8)
        let unsaved = try context.fetch(FetchRequest<Person>())
        for person in unsaved.dropFirst(5).prefix(5) { person.name = Self.names.randomElement(using: &random) ?? "" }
        for person in unsaved.dropFirst(12).prefix(4) { person.boss = unsaved.randomElement(using: &random) }
        unsaved.dropFirst(20).prefix(3).forEach(context.delete)
        (self.container, self.context) = (container, context)
    }

    /// The context of a time, and the one whose objects tell what is right.
    private func contexts(_ time: Time) throws -> (ManagedObjectContext, judge: ManagedObjectContext) {
        switch time {
        case .past:
            let past = try container.context(asOf: .event(then))
            return (past, past)
        case .present:
            let other = container.newBackgroundContext()
            return (other, other)
        case .unsaved: return (context, context)
        case .unsavedLeftOut: return (context, container.newBackgroundContext())
        case .child:
            let child = try context.newChildContext()
            let people = try child.fetch(FetchRequest<Person>().sorted(by: \.name))
            people.prefix(3).forEach(child.delete)
            people.last?.name = "Ann"
            Employee(context: child).name = "B 10"
            return (child, child)
        }
    }

    private func request(_ time: Time, _ random: inout SeededGenerator) throws -> FetchRequest<Person> {
        func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        let entity = chance(3) ? "Employee" : "Person"
        var request = FetchRequest<Person>(entityName: entity)
        if !chance(6) {
            request.predicate = try FetchPredicate(format: Self.formats.randomElement(using: &random) ?? "")
        }
        if chance(4) {
            request.predicate = try request.predicate?.and(
                FetchPredicate(format: Self.formats.randomElement(using: &random) ?? ""))
        }
        let paths = ["name", "boss.name"] + (entity == "Employee" ? ["salary"] : [])
        let foldings: [StringFolding] = [[], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]
        let placements: [SortDescription.NullPlacement] = [.smallest, .first, .last]
        for path in paths.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)) {
            request.sortDescriptors.append(
                SortDescription(
                    path, isAscending: chance(2),
                    folding: path == "salary" ? [] : foldings.randomElement(using: &random) ?? [],
                    isNatural: path != "salary" && chance(3),
                    nullPlacement: placements.randomElement(using: &random) ?? .smallest))
        }
        if chance(2) { request.fetchLimit = Int.random(in: 1...6, using: &random) }
        if chance(2) { request.fetchOffset = Int.random(in: 0...7, using: &random) }
        request.includesSubentities = !chance(3)
        request.includesPendingChanges = time != .unsavedLeftOut
        request.returnsObjectsAsFaults = chance(2)
        request.fetchBatchSize = Int.random(in: 0...4, using: &random)
        if chance(3) { request.relationshipKeyPathsForPrefetching = ["friends.clubs", "boss"] }
        return request
    }

    @Test(arguments: Time.allCases)
    func everyWayToRunARequestGivesTheSame(time: Time) async throws {
        var random = SeededGenerator(seed: UInt64(Time.allCases.firstIndex(of: time) ?? 0) + 40)
        let (context, judge) = try contexts(time)
        let everybody = try judge.fetch(FetchRequest<Person>())
        var found = 0
        for number in 0..<30 {
            let request = try request(time, &random)
            let wanted = try Self.byHand(request, everybody)
            let what: Comment = "\(time) \(number): \(request)"
            found += wanted.isEmpty ? 0 : 1
            #expect(try context.fetchObjectIDs(request) == wanted, what)
            #expect(try context.count(for: request) == wanted.count, what)
            #expect(try context.fetch(request).map(\.objectID) == wanted, what)
            #expect(try context.fetchInBatches(request).map(\.objectID) == wanted, what)
            #expect(try await context.fetchAsynchronously(request).map(\.objectID) == wanted, what)
            #expect(try await context.countAsynchronously(for: request) == wanted.count, what)
            let compiled = try context.compiled(request)
            #expect(try context.fetch(compiled).map(\.objectID) == wanted, what)
            #expect(try context.count(for: compiled) == wanted.count, what)
            #expect(try context.explain(request).result.rows == wanted.count, what)
            // As one request within another.
            var outer = try FetchRequest<Person>(format: "SELF IN FETCH(%@, nil, NO)", request)
            outer.includesPendingChanges = request.includesPendingChanges
            #expect(try context.fetchObjectIDs(outer) == wanted.sorted(), what)
            try checkRows(request, wanted, everybody, context, what)
        }
        #expect(found > 15)
    }

    private func checkRows(
        _ request: FetchRequest<Person>, _ wanted: [ObjectID], _ everybody: [Person], _ context: ManagedObjectContext,
        _ what: Comment
    ) throws {
        let people = Dictionary(uniqueKeysWithValues: everybody.map { ($0.objectID, $0) })
        var rows = RowsFetchRequest(
            entityName: request.entityName, columns: [OutputColumn("name"), OutputColumn("boss.name")],
            where: request.predicate)
        rows.sortDescriptors = request.sortDescriptors
        (rows.fetchLimit, rows.fetchOffset) = (request.fetchLimit, request.fetchOffset)
        rows.includesSubentities = request.includesSubentities
        rows.includesPendingChanges = request.includesPendingChanges
        let expected = wanted.compactMap { people[$0] }.map { person -> [AttributeValue] in
            [.string(person.name), person.boss.map { .string($0.name) } ?? .null]
        }
        #expect(try context.fetchRows(rows).map(Array.init) == expected, what)
        // Groups of all that match, whatever the limit.
        var groups = RowsFetchRequest(
            entityName: request.entityName,
            columns: [OutputColumn("boss.name"), OutputColumn("n", .function(.count, [.evaluatedObject]))],
            where: request.predicate)
        groups.groupBy = ["boss.name"]
        groups.includesSubentities = request.includesSubentities
        groups.includesPendingChanges = request.includesPendingChanges
        groups.having = try FetchPredicate(format: "n > 1")
        var all = request
        (all.fetchLimit, all.fetchOffset) = (0, 0)
        var counts: [String: Int64] = [:]
        for id in try Self.byHand(all, everybody) {
            let boss = people[id]?.boss?.name.precomposedStringWithCanonicalMapping
            counts[boss.map { "=\($0)" } ?? "", default: 0] += 1
        }
        let grouped = try context.fetchRows(groups).map(Array.init)
        #expect(
            grouped.map { $0[1] }.sorted { "\($0)" < "\($1)" }
                == counts.values.filter { $0 > 1 }.map { .integer($0) }.sorted { "\($0)" < "\($1)" }, what)
    }

    // MARK: By hand

    private static func byHand(_ request: FetchRequest<Person>, _ everybody: [Person]) throws -> [ObjectID] {
        var people = try everybody.filter { person in
            let isEmployee = person is Employee
            if request.entityName == "Employee" ? !isEmployee : isEmployee && !request.includesSubentities {
                return false
            }
            return try request.predicate?.evaluate(with: person) ?? true
        }
        people.sort { left, right in
            for sort in request.sortDescriptors {
                let (a, b) = (key(left, sort), key(right, sort))
                switch (a, b) {
                case (nil, nil): continue
                case (nil, _), (_, nil):
                    let isNilFirst =
                        switch sort.nullPlacement {
                        case .smallest: sort.isAscending
                        case .first: true
                        case .last: false
                        }
                    return (a == nil) == isNilFirst
                case (let a?, let b?):
                    guard let (a, b) = zip(a, b).first(where: { $0 != $1 }) else { continue }
                    return a.lexicographicallyPrecedes(b) == sort.isAscending
                }
            }
            return left.objectID < right.objectID
        }
        let rest = people.dropFirst(request.fetchOffset)
        return (request.fetchLimit == 0 ? rest : rest.prefix(request.fetchLimit)).map(\.objectID)
    }

    /// Lists of which the first that differ decide: code points, in natural order after those with each number as one.
    private static func key(_ person: Person, _ sort: SortDescription) -> [[UInt64]]? {
        if sort.keyPath == "salary" {
            return (person as? Employee)?.salary.map { [[UInt64(NSDecimalNumber(decimal: $0 * 2).intValue)]] }
        }
        guard let text = sort.keyPath == "name" ? person.name : person.boss?.name else { return nil }
        let scalars = Array(TextFolding.fold(text, sort.folding).unicodeScalars.map { UInt64($0.value) })
        guard sort.isNatural else { return [scalars] }
        var key: [UInt64] = []
        var place = 0
        while place < scalars.count {
            guard (48...57).contains(scalars[place]) else {
                key.append(scalars[place] << 32)
                place += 1
                continue
            }
            var number: UInt64 = 0
            while place < scalars.count, (48...57).contains(scalars[place]) {
                number = number * 10 + scalars[place] - 48
                place += 1
            }
            key.append(48 << 32 + number)
        }
        return [key, scalars]
    }
}
