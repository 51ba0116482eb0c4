import StrataModel
import StrataTestSupport
import Testing

@testable import StrataGraph

@Suite(.verifiesStores) struct IdentityMapTests {
    let context: ManagedObjectContext
    let entity: EntityRuntime

    init() throws {
        let container = try makeContainer()
        context = container.newBackgroundContext()
        entity = context.entity(of: Movie.self)
    }

    private func object(_ row: UInt64) -> ManagedObject {
        Movie(
            _ObjectSeed(
                entity: entity, objectID: ObjectID(entity: entity.id, row: row), state: ObjectState.detached,
                context: nil, isInserted: false))
    }

    @Test(arguments: RandomTesting.seeds) func itHoldsWhatADictionaryHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var map = IdentityMap()
        var plain: [ObjectID: ManagedObject] = [:]
        var held: [ManagedObject] = []
        for _ in 0..<4000 {
            // Rows close together, and rows all over the 47 bits.
            let row =
                Bool.random(using: &random)
                ? UInt64.random(in: 1..<300, using: &random) : UInt64.random(in: 1..<(1 << 47), using: &random)
            let known = plain.keys.randomElement(using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12:
                let made = object(row)
                if map[made.objectID] == nil {
                    map.insert(made)
                    plain[made.objectID] = made
                    if Int.random(in: 0..<3, using: &random) == 0 { held.append(made) }
                }
            case 12..<16:
                if let known {
                    map.remove(known)
                    plain[known] = nil
                    held.removeAll { $0.objectID == known }
                }
            case 16:
                let ids = plain.keys.sorted()
                plain = [:]
                for id in ids.filter({ _ in Bool.random(using: &random) }) {
                    map.release(id)
                    #expect((map[id] != nil) == held.contains { $0.objectID == id })
                }
                map.sweep()
                for object in held { plain[object.objectID] = object }
            case 17:
                let ids = plain.keys.sorted()
                plain = [:]
                for _ in 0..<50 {
                    if case .released(let object) = map.sweepStep() { #expect(map[object.objectID] == nil) }
                }
                for id in ids { plain[id] = map[id] }
                #expect(held.allSatisfy { map[$0.objectID] === $0 })
            default:
                map.remove(ObjectID(entity: entity.id, row: row))
                plain[ObjectID(entity: entity.id, row: row)] = nil
                held.removeAll { $0.objectID.row == row }
            }
            #expect(map.count == plain.count)
            if let known { #expect(map[known] === plain[known]) }
        }
        for (id, object) in plain { #expect(map[id] === object) }
        var seen: Set<ObjectID> = []
        map.forEach { seen.insert($0.objectID) }
        #expect(seen == Set(plain.keys))
    }

    @Test func anotherEntityWithTheSameRowIsNotFound() {
        var map = IdentityMap()
        let movie = object(77)
        map.insert(movie)
        #expect(map[ObjectID(entity: EntityID(rawValue: entity.id.rawValue + 1), row: 77)] == nil)
        #expect(map[movie.objectID] === movie)
    }

    @Test func goingOverAllObjectsAllowsChangesToTheMap() {
        var map = IdentityMap()
        for row in 1...100 { map.insert(object(UInt64(row * 1000))) }
        var met = 0
        map.forEach { _ in met += 1 }
        #expect(met == 100)
        map.sweep()
        #expect(map.count == 0)
        map.forEach { _ in Issue.record("swept objects are gone") }
    }

    @Test func stepsOfSweepingComeToTheEndAndSayHowManyAreHeld() {
        var map = IdentityMap()
        var held: [ManagedObject] = []
        for row in 1...1000 as ClosedRange<UInt64> {
            let made = object(row * 97)
            map.insert(made)
            if row % 10 == 0 { held.append(made) }
        }
        var released = 0
        rounds: while true {
            switch map.sweepStep() {
            case .released: released += 1
            case .nothing: continue
            case .end(let heldCount):
                #expect(heldCount == 100)
                break rounds
            }
        }
        #expect(released == 900 && map.count == 100)
        for object in held { #expect(map[object.objectID] === object) }
    }

    @Test func readingManyObjectsKeepsFewThatNobodyHolds() throws {
        let container = try makeContainer()
        let writer = container.newBackgroundContext()
        for number in 0..<6000 { FamilyMember(context: writer).name = "\(number)" }
        try writer.save()
        let context = container.newBackgroundContext()
        let ids = try context.fetchObjectIDs(FetchRequest<FamilyMember>())
        var held: [FamilyMember] = []
        for (number, id) in ids.enumerated() {
            let member = try context.existingObject(with: id, as: FamilyMember.self)
            #expect(member.name == "\(number)")
            if number % 100 == 0 { held.append(member) }
        }
        #expect(context.registeredObjects.count <= ContextMemory.leastSweepThreshold + 1)
        for (place, member) in held.enumerated() {
            #expect(context.registeredObject(for: member.objectID) === member && member.name == "\(place * 100)")
        }
    }

    @Test func whatIsKnownOfRelationshipsGoesWithItsOwners() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        for number in 0..<9000 { FamilyMember(context: context).name = "\(number)" }
        try context.save()
        let other = container.newBackgroundContext()
        for member in try other.fetch(FetchRequest<FamilyMember>()) { #expect(member.favoriteMovies.isEmpty) }
        other.sweep()
        #expect(other.pendingLinks.states.count < 2048)
    }
}
