import StrataGraph
import StrataModel
import Testing

/// What a context shows of an object that others deleted: it is deleted, and keeps the values that were in memory.
@Suite(.verifiesStores) struct DeletedByOthersTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext
    let club: Club
    let person: Person

    init() throws {
        (container, mine, theirs) = try makeTwoContexts()
        person = Person(context: mine)
        person.name = "a"
        club = Club(context: mine)
        club.title = "c"
        person.boss = person
        club.members.insert(person)
        try mine.save()
        theirs.refreshAllObjects()
    }

    private func deleteElsewhere(_ object: ManagedObject) throws {
        theirs.delete(try theirs.existingObject(with: object.objectID))
        try theirs.save()
    }

    private func isDeletedAsRead(_ person: Person) -> Bool {
        person.isDeleted && !person.isFault && person.name == "a"
    }

    /// Every way to move on, and what comes after it.
    @Test(arguments: 0..<6) func valuesThatWereReadStay(way: Int) throws {
        #expect(person.name == "a")
        var told: ContextChanges?
        let saved = theirs.observe(.didSave) { told = $0 }
        try deleteElsewhere(person)
        switch way {
        case 0: mine.refreshAllObjects()
        case 1: try mine.mergeChanges(from: try #require(told))
        case 2: try mine.mergeChanges(fromObjectIDs: [person.objectID])
        case 3: mine.refresh(person, mergeChanges: false)
        case 4:
            mine.automaticallyMergesChangesFromParent = true
            _ = try mine.fetch(FetchRequest<Club>())
        default:
            let new = Person(context: mine)
            new.name = "new"
            club.members.insert(new)
            try mine.save()
        }
        #expect(isDeletedAsRead(person) && person.boss === person && !person.hasChanges)
        #expect(try person.value(forKey: "name") as? String == "a")
        #expect("\(person)".contains("not in the store") && "\(person)".contains("\"a\""))
        #expect(!mine.hasChanges && !mine.deletedObjectIDs.contains(person.objectID))
        #expect(!club.members.contains(person) && club.members.count == (way == 5 ? 1 : 0))
        #expect(try !mine.fetch(FetchRequest<Person>()).contains(person))
        #expect(thrownError { _ = try mine.existingObject(with: person.objectID) }?.code == .referentialIntegrity)
        // It cannot be changed, linked to, or deleted again.
        #expect(thrownError { try person.setValue("b", forKey: "name") }?.code == .deletedObject)
        #expect(thrownError { try club.insertMember(person, forKey: "members") }?.code == .deletedObject)
        mine.delete(person)
        #expect(!mine.hasChanges && isDeletedAsRead(person))
        // What reads other objects again leaves it alone.
        mine.refresh(person, mergeChanges: true)
        try mine.mergeChanges(fromObjectIDs: [person.objectID])
        mine.rollback()
        try mine.save()
        #expect(isDeletedAsRead(person) && mine.unreportedErrors.isEmpty)
        mine.reset()
        #expect(person.managedObjectContext == nil && person.name == "a")
        withExtendedLifetime(saved) {}
    }

    @Test func aFaultHasNoValues() throws {
        mine.refresh(person, mergeChanges: false)
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        #expect(person.isFault && person.isDeleted && person.name == "" && person.boss == nil && person.isDeleted)
    }

    @Test func aBatchOfTheContextItselfIsNoOther() throws {
        let request = BatchDeleteRequest<Person>()
        try mine.execute(request)
        #expect(isDeletedAsRead(person) && club.members.isEmpty)
    }

    @Test func anObjectThatIsMadeAgainHasTheValuesOfTheStore() throws {
        theirs.undoManager = ObjectUndoManager()
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        #expect(isDeletedAsRead(person))
        try theirs.undo()
        let back = try theirs.existingObject(with: person.objectID, as: Person.self)
        back.name = "back"
        try theirs.save()
        mine.refreshAllObjects()
        #expect(!person.isDeleted && person.name == "back" && Array(club.members) == [person])
        person.name = "mine"
        try mine.save()
        #expect(
            try container.newBackgroundContext().existingObject(with: person.objectID, as: Person.self).name == "mine")
    }

    // MARK: Changes that others overtook

    /// The changes are dropped; what was read stays.
    @Test(arguments: [false, true]) func droppedChangesLeaveWhatWasRead(isRollback: Bool) throws {
        person.name = "mine"
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        #expect(!person.isDeleted && person.name == "mine")
        #expect(thrownError { try mine.save() }?.code == .merge)
        if isRollback { mine.rollback() } else { mine.refresh(person, mergeChanges: false) }
        #expect(isDeletedAsRead(person) && !mine.hasChanges)
        try mine.save()
        #expect(isDeletedAsRead(person))
    }

    /// A change of its members alone is in no row.
    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func anObjectWhoseMembersChangedKeepsItsValues(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        let friend = Person(context: mine)
        friend.name = "f"
        person.friends.insert(friend)
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        #expect(person.name == "a" && person.hasChanges && !person.isDeleted)
        try mine.save()
        #expect(isDeletedAsRead(person) && friend.friends.isEmpty && !mine.hasChanges)
        #expect(try container.newBackgroundContext().count(for: FetchRequest<Person>()) == 1)
    }

    /// A change that is taken back leaves the object listed, as others changed it too.
    @Test func aValueThatIsSetBackIsNoConflict() throws {
        person.name = "mine"
        person.name = "a"
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        #expect(person.name == "a")
        try mine.save()
        #expect(isDeletedAsRead(person) && !mine.hasChanges)
    }

    // MARK: Children

    @Test func aChildKeepsWhatItsParentDeletes() throws {
        let child = try mine.newChildContext()
        let copy = try child.existingObject(with: person.objectID, as: Person.self)
        #expect(copy.name == "a")
        mine.delete(person)
        child.refreshAllObjects()
        #expect(isDeletedAsRead(copy) && copy.boss === copy)
        child.refreshAllObjects()
        child.refresh(copy, mergeChanges: false)
        #expect(isDeletedAsRead(copy))
        mine.rollback()
        child.refreshAllObjects()
        #expect(!copy.isDeleted && copy.name == "a")
        copy.name = "again"
        try child.save()
        #expect(person.name == "again")
    }

    @Test func aChildKeepsWhatOthersDeleteUnderItsParent() throws {
        let child = try mine.newChildContext()
        let copy = try child.existingObject(with: person.objectID, as: Person.self)
        let friend = Person(context: child)
        friend.name = "f"
        copy.friends.insert(friend)
        #expect(copy.name == "a")
        try deleteElsewhere(person)
        mine.refreshAllObjects()
        child.refreshAllObjects()
        #expect(copy.name == "a" && isDeletedAsRead(person))
        child.mergePolicy = .mergeByPropertyStoreTrump
        try child.save()
        #expect(isDeletedAsRead(copy) && friend.friends.isEmpty)
    }
}
