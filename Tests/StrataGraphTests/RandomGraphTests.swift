import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Random work on a graph beside a plain model of it; after every step both must say the same.
@Suite(.verifiesStores) struct RandomGraphTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...12)))
    func randomWorkAgreesWithThePlainModel(_ seed: UInt64) throws {
        var run = try RandomRun(seed: seed)
        var names: [String] = []
        for step in 0..<250 {
            let name = try run.step()
            names.append(name)
            let problem = try run.difference()
            if let problem {
                let trail = names.suffix(24).joined(separator: ", ")
                Issue.record("seed \(seed), step \(step) (\(trail)): \(problem)")
                return
            }
        }
    }
}

/// What the graph ought to be, by ids.
private struct Plain: Equatable {
    struct Person: Equatable {
        var name = ""
        var boss: ObjectID?
        var passport: ObjectID?
        var friends: Set<ObjectID> = []
        var clubs: Set<ObjectID> = []
    }
    var persons: [ObjectID: Person] = [:]
    /// Passport -> holder.
    var passports: [ObjectID: ObjectID?] = [:]
    var clubs: [ObjectID: String] = [:]
    /// Playlist -> tracks in order.
    var lists: [ObjectID: [ObjectID]] = [:]
    var tracks: [ObjectID: String] = [:]
}

private struct RandomRun {
    let container: PersistentContainer
    var context: ManagedObjectContext
    var random: SeededGenerator
    var now = Plain()
    var saved = Plain()
    var history: [(EventNumber, Plain)] = []
    var counter = 0
    /// The parents of `context`, outermost first, with what they show.
    var parents: [(context: ManagedObjectContext, shown: Plain)] = []
    /// What the outermost context showed before each group that can be undone, and after each that can be made again.
    var before: [Plain] = []
    var after: [Plain] = []

    init(seed: UInt64) throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        context.undoManager = ObjectUndoManager()
        random = SeededGenerator(seed: seed)
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    private mutating func pick<Value>(_ values: [ObjectID: Value]) -> ObjectID? {
        values.isEmpty ? nil : values.keys.sorted()[chance(values.count)]
    }

    private func person(_ id: ObjectID) throws -> Person { try context.existingObject(with: id, as: Person.self) }
    private func list(_ id: ObjectID) throws -> Playlist { try context.existingObject(with: id, as: Playlist.self) }
    private func track(_ id: ObjectID) throws -> Track { try context.existingObject(with: id, as: Track.self) }
    private func club(_ id: ObjectID) throws -> Club { try context.existingObject(with: id, as: Club.self) }

    // MARK: Steps

    mutating func step() throws -> String {
        let shown = outermost.shown
        let name = try work()
        if let count = outermost.context.undoManager?.undoCount, count > before.count {
            before.append(shown)
            after = []
        }
        return name
    }

    private var outermost: (context: ManagedObjectContext, shown: Plain) {
        parents.first.map { ($0.context, $0.shown) } ?? (context, now)
    }

    private mutating func work() throws -> String {
        counter += 1
        switch chance(24) {
        case 0, 1: return try makePerson()
        case 2: return try makeOthers()
        case 3: return try setName()
        case 4, 5: return try setBoss()
        case 6: return try givePassport()
        case 7, 8: return try befriend()
        case 9, 10: return try joinClub()
        case 11, 12, 13: return try changeList()
        case 14: return try deleteSomething()
        case 15: return try rollback()
        case 16: return try reopen()
        case 17: return try travel()
        case 18: return try beginChild()
        case 19, 20: return try endChild()
        case 21: return try undo()
        case 22: return try redo()
        default: return try save()
        }
    }

    // MARK: Children

    private mutating func beginChild() throws -> String {
        guard parents.count < 3 else { return "nothing" }
        parents.append((context, now))
        context = try context.newChildContext()
        return "begin child"
    }

    private mutating func endChild() throws -> String {
        guard let parent = parents.last else { return "nothing" }
        if chance(4) == 0 {
            now = parent.shown
        } else {
            try context.save()
        }
        parents.removeLast()
        context = parent.context
        return "end child"
    }

    // MARK: Undo

    private mutating func undo() throws -> String {
        guard parents.isEmpty, let plain = before.popLast() else { return "nothing" }
        try context.undoManager?.undo()
        after.append(now)
        now = plain
        return "undo"
    }

    private mutating func redo() throws -> String {
        guard parents.isEmpty, let plain = after.popLast() else { return "nothing" }
        try context.undoManager?.redo()
        before.append(now)
        now = plain
        return "redo"
    }

    private mutating func makePerson() throws -> String {
        let person = Person(context: context)
        person.name = "p\(counter)"
        now.persons[person.objectID] = Plain.Person(name: "p\(counter)")
        return "make person"
    }

    private mutating func makeOthers() throws -> String {
        let passport = Passport(context: context)
        passport.number = "n\(counter)"
        now.passports[passport.objectID] = .some(nil)
        let club = Club(context: context)
        club.title = "c\(counter)"
        now.clubs[club.objectID] = "c\(counter)"
        let list = Playlist(context: context)
        list.name = "l\(counter)"
        now.lists[list.objectID] = []
        return "make others"
    }

    private mutating func setName() throws -> String {
        guard let id = pick(now.persons) else { return "nothing" }
        try person(id).name = "r\(counter)"
        now.persons[id]?.name = "r\(counter)"
        return "rename"
    }

    private mutating func setBoss() throws -> String {
        guard let id = pick(now.persons), let boss = pick(now.persons) else { return "nothing" }
        if chance(3) == 0 {
            try person(id).boss = nil
            now.persons[id]?.boss = nil
        } else if chance(2) == 0 {
            try person(id).boss = person(boss)
            now.persons[id]?.boss = boss
        } else {
            try person(boss).reports.insert(person(id))
            now.persons[id]?.boss = boss
        }
        return "boss"
    }

    private mutating func givePassport() throws -> String {
        guard let id = pick(now.persons), let passport = pick(now.passports) else { return "nothing" }
        let object = try context.existingObject(with: passport, as: Passport.self)
        if chance(2) == 0 { try person(id).passport = object } else { object.holder = try person(id) }
        for (other, value) in now.persons where value.passport == passport { now.persons[other]?.passport = nil }
        if let old = now.persons[id]?.passport { now.passports[old] = .some(nil) }
        now.persons[id]?.passport = passport
        now.passports[passport] = .some(id)
        return "passport"
    }

    private mutating func befriend() throws -> String {
        guard let one = pick(now.persons), let two = pick(now.persons) else { return "nothing" }
        if now.persons[one]?.friends.contains(two) ?? false, chance(2) == 0 {
            try person(one).friends.remove(person(two))
            now.persons[one]?.friends.remove(two)
            now.persons[two]?.friends.remove(one)
        } else {
            try person(one).friends.insert(person(two))
            now.persons[one]?.friends.insert(two)
            now.persons[two]?.friends.insert(one)
        }
        return "friends"
    }

    private mutating func joinClub() throws -> String {
        guard let id = pick(now.persons), let club = pick(now.clubs) else { return "nothing" }
        if now.persons[id]?.clubs.contains(club) ?? false {
            try self.club(club).members.remove(person(id))
            now.persons[id]?.clubs.remove(club)
        } else if chance(2) == 0 {
            try person(id).clubs.insert(self.club(club))
            now.persons[id]?.clubs.insert(club)
        } else {
            try self.club(club).members.insert(person(id))
            now.persons[id]?.clubs.insert(club)
        }
        return "club"
    }

    private mutating func changeList() throws -> String {
        guard let id = pick(now.lists), var tracks = now.lists[id] else { return "nothing" }
        let list = try list(id)
        switch chance(5) {
        case 0 where tracks.count > 1:
            let from = chance(tracks.count), to = chance(tracks.count)
            list.tracks.move(from: from, to: to)
            tracks.insert(tracks.remove(at: from), at: to)
            now.lists[id] = tracks
            return "move track"
        case 1 where !tracks.isEmpty:
            let place = chance(tracks.count)
            list.tracks.remove(at: place)
            tracks.remove(at: place)
            now.lists[id] = tracks
            return "remove track"
        case 2:
            guard let other = pick(now.tracks), !tracks.contains(other) else { return "nothing" }
            try track(other).playlist = list
            for key in now.lists.keys { now.lists[key]?.removeAll { $0 == other } }
            now.lists[id]?.append(other)
            return "steal track"
        default:
            let track = Track(context: context)
            track.title = "t\(counter)"
            now.tracks[track.objectID] = "t\(counter)"
            let place = chance(tracks.count + 1)
            list.tracks.insert(track, at: place)
            now.lists[id]?.insert(track.objectID, at: place)
            return "insert track"
        }
    }

    private mutating func deleteSomething() throws -> String {
        switch chance(4) {
        case 0:
            guard let id = pick(now.persons) else { return "nothing" }
            try context.delete(person(id))
            now.persons[id] = nil
            for key in now.persons.keys {
                if now.persons[key]?.boss == id { now.persons[key]?.boss = nil }
                now.persons[key]?.friends.remove(id)
            }
            for key in now.passports.keys where now.passports[key] == .some(id) { now.passports[key] = .some(nil) }
            return "delete person"
        case 1:
            guard let id = pick(now.clubs) else { return "nothing" }
            try context.delete(club(id))
            now.clubs[id] = nil
            for key in now.persons.keys { now.persons[key]?.clubs.remove(id) }
            return "delete club"
        case 2:
            guard let id = pick(now.lists) else { return "nothing" }
            try context.delete(list(id))
            for track in now.lists[id] ?? [] { now.tracks[track] = nil }
            now.lists[id] = nil
            return "delete list"
        default:
            guard let id = pick(now.tracks) else { return "nothing" }
            try context.delete(track(id))
            now.tracks[id] = nil
            for key in now.lists.keys { now.lists[key]?.removeAll { $0 == id } }
            return "delete track"
        }
    }

    private mutating func rollback() throws -> String {
        context.rollback()
        now = parents.last?.shown ?? saved
        if parents.isEmpty { (before, after) = ([], []) }
        return "rollback"
    }

    private mutating func save() throws -> String {
        try context.save()
        guard let parent = parents.last else {
            saved = now
            history.append((context.eventNumber, saved))
            return "save"
        }
        parents[parents.count - 1] = (parent.context, now)
        return "save into the parent"
    }

    private mutating func reopen() throws -> String {
        while !parents.isEmpty {
            try context.save()
            context = parents.removeLast().context
        }
        try context.save()
        saved = now
        context = container.newBackgroundContext()
        context.undoManager = ObjectUndoManager()
        (before, after) = ([], [])
        return "save, new context"
    }

    private mutating func travel() throws -> String {
        guard !history.isEmpty else { return "nothing" }
        let (eventNumber, plain) = history[chance(history.count)]
        let past = try container.context(asOf: .event(eventNumber))
        if let problem = try Self.difference(past, plain) { Issue.record("at \(eventNumber): \(problem)") }
        return "travel"
    }

    // MARK: Comparing

    func difference() throws -> String? { try Self.difference(context, now) }

    private static func difference(_ context: ManagedObjectContext, _ plain: Plain) throws -> String? {
        let persons = try context.fetch(FetchRequest<Person>())
        let found = Set(persons.map(\.objectID))
        if found != Set(plain.persons.keys) {
            return "persons \(found.subtracting(plain.persons.keys)) too many, "
                + "\(Set(plain.persons.keys).subtracting(found)) missing"
        }
        for person in persons {
            let id = person.objectID
            guard let expected = plain.persons[id] else { continue }
            let found = Plain.Person(
                name: person.name, boss: person.boss?.objectID, passport: person.passport?.objectID,
                friends: Set(person.friends.objectIDs), clubs: Set(person.clubs.objectIDs))
            if found != expected { return "\(id) is \(found), not \(expected)" }
            let reports = Set(plain.persons.filter { $0.value.boss == id }.keys)
            if Set(person.reports.objectIDs) != reports { return "reports of \(id)" }
            if person.reports.count != reports.count || person.friends.count != expected.friends.count {
                return "counts of \(id): \(person.reports.count), \(person.friends.count)"
            }
        }
        for club in try context.fetch(FetchRequest<Club>()) {
            let members = Set(plain.persons.filter { $0.value.clubs.contains(club.objectID) }.keys)
            if Set(club.members.objectIDs) != members || club.members.count != members.count {
                return "members of a club"
            }
        }
        for passport in try context.fetch(FetchRequest<Passport>()) {
            guard let holder = plain.passports[passport.objectID] else { return "a passport too many" }
            if passport.holder?.objectID != holder { return "holder of \(passport.objectID)" }
        }
        let lists = try context.fetch(FetchRequest<Playlist>())
        if lists.count != plain.lists.count { return "other lists" }
        for list in lists {
            let tracks = list.tracks.objectIDs
            if tracks != plain.lists[list.objectID] {
                return "tracks \(tracks), not \(plain.lists[list.objectID] ?? [])"
            }
            if list.tracks.contains(where: { $0.playlist !== list }) { return "a track of another list" }
        }
        if try context.count(for: FetchRequest<Track>()) != plain.tracks.count { return "other tracks" }
        return context.unreportedErrors.isEmpty ? nil : "\(context.unreportedErrors)"
    }
}
