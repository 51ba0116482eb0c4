import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

/// One store to which everything happens that can happen to one, beside plain dictionaries that say what it holds now and
/// held at every moment.
///
/// Values are compared as texts, and numbers by their value, because models give `year` other types and names.
final class StoreLife {
    typealias State = [ObjectID: [String: String]]

    /// How `year` is called and kept, one model after another.
    private static let models: [(name: String, type: AttributeType)] = [
        ("year", .integer64), ("made", .string), ("year", .double), ("made", .integer32),
    ]
    private static let keys = (0..<3).map { Data(repeating: UInt8($0 + 1), count: 32) }

    let folder = FileManager.default.temporaryDirectory.appending(
        component: "life-\(UUID().uuidString)", directoryHint: .isDirectory)
    var random: SeededGenerator
    private(set) var container: PersistentContainer
    private var model = 0
    private var key = 0
    private var name = "store-0.strata"
    private var targetName = "target-0"
    private var places = 0
    /// Follows the target for as long as the store ships to it.
    var standby: URL?
    private(set) var now: State = [:]
    private(set) var history: [(event: EventNumber, state: State)] = []
    /// Moments up to it are gone, and those of films up to the second.
    private(set) var cut = EventNumber.zero
    private(set) var thinned = EventNumber.zero
    /// What was done, for the message of a failure.
    private(set) var steps: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        container = PersistentContainer(name: "Life", model: try Self.model(0), at: .inMemory, options: .init())
        try open()
        history = [(try container.head(), [:])]
    }

    deinit {
        container.close()
        try? FileManager.default.removeItem(at: folder)
    }

    var url: URL { folder.appending(component: name, directoryHint: .isDirectory) }
    var target: DirectoryTarget {
        DirectoryTarget(folder.appending(component: targetName, directoryHint: .isDirectory))
    }
    private var yearName: String { Self.models[model % Self.models.count].name }

    private static func model(_ number: Int) throws -> ManagedObjectModel {
        let (name, type) = models[number % models.count]
        let other = name == "year" ? "made" : "year"
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(
                        AttributeDescription(name: name, type: type, isOptional: true, renamingIdentifier: other)),
                    .attribute(
                        AttributeDescription(
                            name: "secret", type: .string, isOptional: true, encryption: .storeKey)),
                    .attribute(
                        AttributeDescription(
                            name: "poster", type: .binaryData, isOptional: true,
                            allowsExternalBinaryDataStorage: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "director", destinationEntityName: "Director", inverseName: "films")),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "films", isToMany: true)),
                ], indexes: [FetchIndexDescription(name: "byTitle", elements: [FetchIndexElement("title")])]),
            EntityDescription(
                name: "Director",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "director", isToMany: true)),
                ]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "tags", isToMany: true)),
                ]),
        ])
    }

    func made(_ url: URL, isReadOnly: Bool = false) throws -> PersistentContainer {
        var options = PersistentStoreOptions(
            durability: .journaled, isReadOnly: isReadOnly, allowsModelDowngrade: true)
        options.encryption = StoreEncryption(
            key: Self.keys[key], previous: Self.keys.enumerated().filter { $0.offset != key }.map(\.element))
        let container = PersistentContainer(name: "Life", model: try Self.model(model), at: .url(url), options: options)
        try container.loadPersistentStores()
        return container
    }

    private func open() throws { container = try made(url) }

    func nextPlace() -> URL {
        places += 1
        return folder.appending(component: "store-\(places).strata", directoryHint: .isDirectory)
    }

    /// Goes on with the store at another place.
    func move(to place: URL) throws {
        container.close()
        name = place.lastPathComponent
        try open()
    }

    // MARK: Steps

    func step() throws {
        let work = [
            "save", "save", "save", "save", "revert", "restore", "trim", "thin", "erase", "tag", "migrate", "exchange",
            "ship", "ship", "return", "standby", "follow", "travel", "kill", "rotate", "rebuild", "reopen",
        ].randomElement(using: &random)!
        steps.append(work)
        switch work {
        case "save": try save()
        case "revert": try revert()
        case "restore": try restore()
        case "trim": try trim()
        case "thin": try thin()
        case "erase": try erase()
        case "tag": try container.setTag("tag \(Int.random(in: 0..<3, using: &random))", author: "ann")
        case "migrate":
            container.close()
            model = Int.random(in: 0..<Self.models.count, using: &random)
            try open()
        case "exchange": try exchange()
        case "ship": _ = try LogShipper(container.store, target).ship(makesSnapshot: Bool.random(using: &random))
        case "return": try goOnFromTarget()
        case "standby": try makeStandby()
        case "follow": try follow()
        case "travel": try restoreAMoment()
        case "kill": try kill()
        case "rotate":
            container.close()
            key = (key + 1) % Self.keys.count
            try open()
            try container.rotateEncryptionKey()
        case "rebuild": #expect(try container.rebuildViews().isUnchanged, comment)
        default:
            container.close()
            try open()
        }
        try note()
    }

    var comment: Comment { "\(steps.joined(separator: ", "))" }

    private func note() throws {
        let found = try Self.state(container.newBackgroundContext())
        #expect(found == now, comment)
        now = found
        history.append((try container.head(), now))
    }

    private func objects(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).sorted { $0.objectID < $1.objectID }
    }

    private func save() throws {
        let context = container.newBackgroundContext()
        context.transactionAuthor = "save"
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let films = try objects("Film", context)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let film = try context.insertNewObject(forEntityName: "Film")
                try film.setValue("film \(UInt16.random(in: 0 ... .max, using: &random))", forKey: "title")
                try setYear(of: film)
                if Bool.random(using: &random) {
                    try film.setValue("secret \(steps.count)", forKey: "secret")
                    let size = Int.random(in: 1...150_000, using: &random)
                    try film.setValue(Data(repeating: UInt8(size & 255), count: size), forKey: "poster")
                }
            case 3...4:
                guard let film = films.randomElement(using: &random) else { continue }
                try setYear(of: film)
                try film.setValue(Bool.random(using: &random) ? nil : "secret \(steps.count)", forKey: "secret")
            case 5:
                let entity = Bool.random(using: &random) ? "Director" : "Tag"
                let made = try context.insertNewObject(forEntityName: entity)
                try made.setValue("\(entity) \(steps.count)", forKey: "title")
            case 6:
                guard let film = films.randomElement(using: &random) else { continue }
                try film.setValue(try objects("Director", context).randomElement(using: &random), forKey: "director")
                let tags = try objects("Tag", context).filter { _ in Bool.random(using: &random) }
                try film.setValue(Set(tags), forKey: "tags")
            default:
                let all = try ["Film", "Director", "Tag"].flatMap { try objects($0, context) }
                if let object = all.randomElement(using: &random) { context.delete(object) }
            }
            context.processPendingChanges()
        }
        now = try Self.state(context)
        try context.save()
    }

    private func setYear(of film: ManagedObject) throws {
        let year = Int.random(in: 1900...2030, using: &random)
        let value: Any? =
            switch Self.models[model % Self.models.count].type {
            case .string: "\(year)"
            case .double: Double(year)
            case .integer32: Int32(year)
            default: Int64(year)
            }
        try film.setValue(Int.random(in: 0..<5, using: &random) == 0 ? nil : value, forKey: yearName)
    }

    /// Undoing the newest save gives the state before it.
    private func revert() throws {
        let context = container.newBackgroundContext()
        guard let last = try container.transactions(after: .zero, limit: 100_000).last(where: { $0.author == "save" })
        else { return }
        do {
            try context.revert(last.number)
        } catch let error as StrataError where [.merge, .historyDropped].contains(error.code) {
            return
        }
        let before = EventNumber(rawValue: last.firstEvent.rawValue - 1)
        let isNewest = history.last { $0.event < last.lastEvent }?.event == before && steps.dropLast().last == "save"
        now = try Self.state(context)
        if isNewest, before >= max(cut, thinned), let known = history.last(where: { $0.event == before }) {
            #expect(now == known.state, comment)
        }
        context.transactionAuthor = "revert"
        if context.hasChanges { try context.save() }
    }

    /// An object has the values that it had.
    private func restore() throws {
        let context = container.newBackgroundContext()
        guard let moment = kept(max(cut, thinned)).randomElement(using: &random),
            let id = moment.state.keys.sorted().randomElement(using: &random), moment.state[id]?["erased"] == nil
        else { return }
        do {
            try context.restore(id, at: moment.event)
        } catch let error as StrataError where error.code == .historyDropped {
            return
        }
        now = try Self.state(context)
        for key in ["title", "year", "secret", "poster"] {
            let (found, then) = (now[id]?[key], moment.state[id]?[key])
            #expect(found == then, "\(key) of \(id): \(comment)")
        }
        context.transactionAuthor = "restore"
        if context.hasChanges { try context.save() }
    }

    func kept(_ first: EventNumber) -> [(event: EventNumber, state: State)] {
        history.filter { $0.event >= first }
    }

    private func trim() throws {
        guard let moment = kept(cut).randomElement(using: &random) else { return }
        _ = try container.truncateHistory(before: .event(moment.event), holders: .overridden, author: "ann")
        cut = max(cut, moment.event)
    }

    private func thin() throws {
        guard let moment = kept(max(cut, thinned)).randomElement(using: &random) else { return }
        _ = try container.truncateHistory(
            ofEntities: ["Film"], before: .event(moment.event), holders: .overridden, author: "ann")
        thinned = max(thinned, moment.event)
    }

    private func erase() throws {
        guard let id = now.keys.sorted().randomElement(using: &random) else { return }
        try container.erase([id], reason: "asked")
        for index in history.indices where history[index].state[id] != nil {
            history[index].state[id] = ["erased": "yes"]
        }
        now[id] = nil
        for other in now.keys { Self.drop(id, from: &now[other]) }
    }

    private static func drop(_ id: ObjectID, from values: inout [String: String]?) {
        if values?["director"] == "\(id)" { values?["director"] = nil }
        guard let tags = values?["tags"] else { return }
        let left = tags.split(separator: " ").filter { $0 != "\(id)" }.joined(separator: " ")
        values?["tags"] = left.isEmpty ? nil : left
    }

    /// As a compaction exchanges files: what is beside the old one stays.
    private func exchange() throws {
        let copy = folder.appending(component: "copy-\(steps.count)", directoryHint: .isDirectory)
        try container.backup(to: copy)
        container.close()
        try FileManager.default.removeItem(at: url.appending(component: "pages.sums"))
        try FileManager.default.removeItem(at: url.appending(component: "data.mdb"))
        try FileManager.default.moveItem(
            at: copy.appending(component: "data.mdb"), to: url.appending(component: "data.mdb"))
        try FileManager.default.removeItem(at: copy)
        try open()
    }

    /// Ships to another target from now on.
    func beginTarget() {
        targetName = "target-\(places)"
        standby = nil
    }

    /// Every moment that is kept is what it was; an earlier one is refused.
    func checkHistory() throws {
        #expect(try container.verify().isSound, comment)
        for (event, state) in history.shuffled(using: &random).prefix(8) {
            do {
                let context = try container.context(asOf: .event(event))
                let found = try Self.state(context)
                #expect(Set(found.keys) == Set(state.keys), "event \(event): \(comment)")
                for (id, values) in state where values["erased"] == nil && event >= thinned {
                    #expect(found[id] == values, "event \(event), \(id): \(comment)")
                }
            } catch let error as StrataError where error.code == .historyDropped {
                #expect(event < max(cut, thinned), "event \(event): \(error): \(comment)")
            }
        }
        try checkChanges()
        // Every event that is kept can be listed, and every value has an event or is older than the history.
        let first = max(cut, try container.store.baseline()?.event ?? .zero)
        let events = try container.events(from: first.advanced(by: 1), through: container.head())
        let names = Set(events.filter { $0.entityName == "Film" }.flatMap(\.changes).map(\.key))
        #expect(!names.contains(yearName == "year" ? "made" : "year"), comment)
        for id in now.keys.shuffled(using: &random).prefix(5) {
            let blame = try container.blame(id)
            if cut == .zero, now[id]?["year"] != nil { #expect(blame[yearName] != nil, comment) }
        }
    }

    /// The changes between two moments lead from one to the other.
    private func checkChanges() throws {
        let moments = kept(max(cut, thinned))
        guard let first = moments.randomElement(using: &random), let last = moments.randomElement(using: &random) else {
            return
        }
        let changes = try container.changes(from: .event(first.event), to: .event(last.event))
        var named: [ObjectID: ObjectChange] = [:]
        for change in changes { named[change.objectID] = change }
        for id in Set(first.state.keys).union(last.state.keys) {
            let (before, after) = (first.state[id], last.state[id])
            if before?["erased"] != nil || after?["erased"] != nil { continue }
            for (key, name) in [("title", "title"), ("year", yearName), ("secret", "secret")] {
                let (old, new) = (before?[key], after?[key])
                let change = named[id]?[name]
                let place: Comment = "\(key) of \(id), \(first.event) to \(last.event): \(comment)"
                guard old != new else {
                    #expect(change.map { Self.text($0.before) == Self.text($0.after) } ?? true, place)
                    continue
                }
                #expect(change.map { Self.text($0.before) } == .some(old), place)
                #expect(change.map { Self.text($0.after) } == .some(new), place)
                let others = named[id]?.properties.filter { $0.key == (yearName == "year" ? "made" : "year") } ?? []
                #expect(others.isEmpty, place)
            }
        }
    }
}
