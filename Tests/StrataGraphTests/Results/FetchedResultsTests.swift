import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct FetchedResultsTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let byName: FetchRequest<Person>

    init() throws {
        byName = try FetchRequest<Person>().sorted(by: \.name)
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
    }

    private func person(_ name: String, boss: Person? = nil) -> Person {
        let person = Person(context: context)
        person.name = name
        person.boss = boss
        return person
    }

    private func shown(
        _ request: FetchRequest<Person>, sections: String? = nil, naming: SectionNaming = .value
    ) throws -> (FetchedResultsController<Person>, Table<Person>) {
        let controller = FetchedResultsController(
            fetchRequest: request, context: context, sectionNameKeyPath: sections, sectionNaming: naming)
        let table = Table<Person>()
        controller.delegate = table
        try controller.performFetch()
        table.load(controller)
        return (controller, table)
    }

    @Test func aTableIsToldOfInsertDeleteMoveAndUpdate() throws {
        let people = ["a", "b", "c", "d"].map { person($0) }
        try context.save()
        let (controller, table) = try shown(byName)
        _ = person("bb")
        context.processPendingChanges()
        #expect(table.calls == ["will", "insert - 0.2", "did"])
        table.forget()
        context.delete(people[0])
        context.processPendingChanges()
        #expect(table.calls == ["will", "delete 0.0 -", "did"])
        table.forget()
        people[1].name = "z"
        context.processPendingChanges()
        #expect(table.calls == ["will", "move 0.0 0.3", "did"])
        table.forget()
        people[2].name = "ccc"
        context.processPendingChanges()
        #expect(table.calls == ["will", "update 0.1 0.1", "did"])
        table.forget()
        try context.save()
        #expect(table.calls.isEmpty && table.faults.isEmpty)
        #expect(controller.fetchedObjects?.map(\.name) == ["bb", "ccc", "d", "z"])
        #expect(controller.indexPath(forObject: people[3]) == IndexPath(item: 2, section: 0))
        #expect(controller.object(at: IndexPath(row: 1, section: 0)) === people[2])
    }

    @Test func aFetchAmidChangesDoesNotTellThemInPieces() throws {
        let people = ["a", "b"].map { person($0) }
        try context.save()
        context.automaticallyMergesChangesFromParent = true
        let (controller, table) = try shown(byName)
        people[0].name = "z"
        #expect(try context.count(for: byName) == 2)
        _ = person("c")
        #expect(try context.fetch(byName).map(\.name) == ["b", "c", "z"])
        #expect(table.calls.isEmpty)
        try context.save()
        #expect(table.calls.filter { $0 == "will" }.count == 1 && table.faults.isEmpty, "\(table.calls)")
        #expect(table.told.count == 2 && controller.fetchedObjects?.map(\.name) == ["b", "c", "z"])
    }

    @Test func sectionsComeAndGoWithTheirObjects() throws {
        let (anna, bert) = (person("a"), person("b"))
        let people = [person("1", boss: anna), person("2", boss: anna), person("3", boss: bert)]
        try context.save()
        let request = try FetchRequest<Person>(
            where: try FetchPredicate(format: "boss != nil"),
            sortedBy: [SortDescription("boss.name"), SortDescription("name")])
        let (controller, table) = try shown(request, sections: "boss.name")
        #expect(controller.sections?.map(\.name) == ["a", "b"])
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
        bert.name = "Z"
        context.processPendingChanges()
        #expect(
            table.calls == [
                "will", "section delete 1", "section insert 0", "move 1.0 0.0", "did",
            ])
        table.forget()
        people[2].boss = anna
        context.processPendingChanges()
        #expect(table.calls == ["will", "section delete 0", "move 0.0 0.2", "did"])
        #expect(table.faults.isEmpty && table.sections.map(\.name) == ["a"])
    }

    @Test func theObjectsOfADeletedSectionAreReportedToo() throws {
        let (anna, bert) = (person("a"), person("b"))
        let people = [person("1", boss: anna), person("2", boss: anna), person("3", boss: bert)]
        try context.save()
        let request = try FetchRequest<Person>(
            where: try FetchPredicate(format: "boss != nil"),
            sortedBy: [SortDescription("boss.name"), SortDescription("name")])
        let (controller, table) = try shown(request, sections: "boss.name")
        for person in people.prefix(2) { context.delete(person) }
        context.processPendingChanges()
        #expect(table.calls == ["will", "section delete 0", "delete 0.1 -", "delete 0.0 -", "did"])
        #expect(table.faults.isEmpty && table.sections.map(\.name) == ["b"] && controller.sections?.count == 1)
    }

    @Test func sectionsOverAToOneAreNamedAsPeopleReadObjects() throws {
        let anna = person("a")
        _ = [person("1", boss: anna), person("2", boss: anna)]
        try context.save()
        let request = try FetchRequest<Person>(
            where: try FetchPredicate(format: "boss != nil"), sortedBy: [SortDescription("boss")])
        let (controller, _) = try shown(request, sections: "boss")
        #expect(controller.sections?.map(\.name) == ["Person/p\(anna.objectID.row)"])
    }

    @Test func anObjectThatIsAloneInItsSectionIsUpdatedInIt() throws {
        let (anna, bert) = (person("a"), person("b"))
        let one = person("1", boss: anna)
        _ = person("2", boss: bert)
        try context.save()
        let request = try FetchRequest<Person>(
            where: try FetchPredicate(format: "boss != nil"),
            sortedBy: [SortDescription("boss.name"), SortDescription("name")])
        let (controller, table) = try shown(request, sections: "boss.name")
        one.name = "5"
        context.processPendingChanges()
        #expect(table.calls == ["will", "update 0.0 0.0", "did"])
        #expect(controller.fetchedObjects?.first === one)
    }

    @Test func indexTitlesLeadToSections() throws {
        for name in ["élan", "Eva", "egg", "Bob", "1st", "bar"] { _ = person(name) }
        let order = SortDescription("name", folding: [.caseInsensitive, .diacriticInsensitive])
        let (controller, _) = try shown(
            try FetchRequest<Person>(sortedBy: [order]), sections: "name", naming: .initial)
        #expect(controller.sections?.map(\.name) == ["#", "B", "E"])
        #expect(controller.sections?.map(\.numberOfObjects) == [1, 2, 3])
        #expect(controller.sectionIndexTitles == ["#", "B", "E"])
        #expect(controller.section(forSectionIndexTitle: "E", at: 2) == 2)
        #expect(controller.section(forSectionIndexTitle: "B", at: 0) == 1)
        #expect(controller.section(forSectionIndexTitle: "X", at: 0) == nil)
    }

    @Test func sectionsNeedTheirOrder() {
        let error = thrownError { _ = try shown(byName, sections: "boss.name") }
        #expect(error?.code == .invalidRequest && error?.context.key == "boss.name")
    }

    @Test func whatOthersSaveIsToldWhenTheContextMoves() throws {
        let bert = person("b")
        _ = person("1", boss: bert)
        try context.save()
        let (controller, table) = try shown(
            try FetchRequest<Person>(where: try FetchPredicate(format: "boss.name == 'x'")))
        var differences: [FetchedResultsDifference] = []
        controller.onChange = { differences.append($0) }
        let other = container.newBackgroundContext()
        // Only the far end changes, and no result of it is in memory here.
        try other.existingObject(with: bert.objectID, as: Person.self).name = "x"
        try other.save()
        context.processPendingChanges()
        #expect(differences.isEmpty)
        context.refreshAllObjects()
        #expect(table.calls == ["will", "insert - 0.0", "did"])
        #expect(differences.first?.insertions.map(\.indexPath) == [IndexPath(item: 0, section: 0)])
    }

    @Test func onlyTheObservedKeyPathsMakeAnUpdate() throws {
        let (anna, one) = (person("a"), person("1"))
        one.boss = anna
        try context.save()
        let controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Person>(where: try FetchPredicate(format: "boss != nil")), context: context,
            observing: ["boss.name"])
        var updates = 0
        controller.onChange = { updates += $0.updates.count }
        try controller.performFetch()
        one.name = "other"
        context.processPendingChanges()
        #expect(updates == 0)
        anna.name = "b"
        context.processPendingChanges()
        #expect(updates == 1)
    }

    @Test func whoHearsOfAChangeMayChangeAndSave() throws {
        let (controller, table) = try shown(byName)
        controller.onChange = { [context] _ in
            guard controller.fetchedObjects?.count ?? 0 < 3 else { return }
            Person(context: context).name = "more"
            do { try context.save() } catch { Issue.record(error) }
        }
        _ = person("first")
        context.processPendingChanges()
        #expect(table.flat.count == 3 && table.faults.isEmpty && !context.hasChanges)
    }

    @Test func aLimitRunsTheRequestAgainAndSaysSo() throws {
        var request = byName
        request.fetchLimit = 2
        let people = ["b", "c", "d"].map { person($0) }
        try context.save()
        let (controller, table) = try shown(request)
        #expect(controller.rerunReason != nil)
        _ = person("a")
        context.delete(people[1])
        context.processPendingChanges()
        #expect(table.calls == ["will", "delete 0.1 -", "insert - 0.0", "did"])
        let (plain, _) = try shown(byName)
        #expect(plain.rerunReason == nil)
    }

    @Test func aSnapshotIsAValueThatStaysAsItWas() throws {
        let (anna, bert) = (person("a"), person("b"))
        let (controller, _) = try shown(byName)
        let before = controller.snapshot
        context.delete(anna)
        context.processPendingChanges()
        #expect(before.itemIdentifiers == [anna.objectID, bert.objectID])
        #expect(controller.snapshot.itemIdentifiers == [bert.objectID])
    }

    @Test func aControllerThatIsLetGoHearsNothing() throws {
        var heard = 0
        do {
            let controller = FetchedResultsController(fetchRequest: byName, context: context)
            controller.onChange = { _ in heard += 1 }
            try controller.performFetch()
        }
        _ = person("a")
        context.processPendingChanges()
        #expect(heard == 0)
    }

    @Test func resultsOfAChildFollowItsParentAndTheOtherWayRound() throws {
        let child = try context.newChildContext()
        let controller = FetchedResultsController(fetchRequest: byName, context: child)
        let table = Table<Person>()
        controller.delegate = table
        try controller.performFetch()
        table.load(controller)
        let (ofParent, parentTable) = try shown(byName)
        _ = person("b")
        context.processPendingChanges()
        child.refreshAllObjects()
        #expect(table.calls == ["will", "insert - 0.0", "did"])
        table.forget()
        parentTable.forget()
        Person(context: child).name = "a"
        child.processPendingChanges()
        #expect(table.calls == ["will", "insert - 0.0", "did"] && parentTable.calls.isEmpty)
        try child.save()
        #expect(parentTable.calls == ["will", "insert - 0.0", "did"])
        #expect(table.flat == parentTable.flat && ofParent.fetchedObjects?.count == 2)
        try context.save()
        #expect(table.faults.isEmpty && parentTable.faults.isEmpty)
    }
}
