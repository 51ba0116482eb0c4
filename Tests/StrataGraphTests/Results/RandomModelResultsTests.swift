import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// As `RandomResultsTests`, each seed over a model of its own: what a table makes of the changes it is told of must
/// always be what a new fetch finds, whatever entities and relationships there are.
@Suite(.verifiesStores) struct RandomModelResultsTests {
    @Test(arguments: RandomTesting.seeds.flatMap { [$0, $0 + 1000, $0 + 2000] })
    func whatIsToldGivesTheNewResultsOverAnyModel(_ seed: UInt64) throws {
        var run = try ModelResultsRun(seed: seed)
        var steps: [String] = []
        for step in 0..<60 {
            steps.append(try run.step())
            if let problem = try run.problem() {
                let last = steps.suffix(15).joined(separator: "\n")
                Issue.record("seed \(seed), step \(step): \(problem)\n\(run.model.links)\n\(last)")
                return
            }
        }
        #expect(run.shownCount > 0, "Nothing was ever shown.")
    }
}

private struct ModelResultsRun {
    let model: RandomModel
    let container: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    var random: SeededGenerator
    var watched: [WatchedRequest] = []
    var shownCount = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        model = RandomModel(using: &random)
        container = PersistentContainer(
            name: "Random", model: try model.model(), at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        context = container.newBackgroundContext()
        other = container.newBackgroundContext()
        for context in [context, other] { context.mergePolicy = .mergeByPropertyObjectTrump }
        for _ in 0..<20 { _ = try change(context) }
        try context.save()
        for _ in 0..<6 { watched.append(try watch()) }
    }

    private mutating func watch() throws -> WatchedRequest {
        let entity = model.entities.randomElement(using: &random) ?? ""
        let format = model.condition(on: entity, using: &random)
        let order = model.order(of: entity, using: &random)
        var request = try FetchRequest<ManagedObject>(
            entityName: entity, where: try FetchPredicate(format: format), sortedBy: order)
        request.includesSubentities = Int.random(in: 0..<4, using: &random) > 0
        request.includesPendingChanges = Int.random(in: 0..<6, using: &random) > 0
        if Int.random(in: 0..<6, using: &random) == 0 {
            request.fetchLimit = Int.random(in: 1...4, using: &random)
            request.fetchOffset = Int.random(in: 0...2, using: &random)
        }
        let section = Bool.random(using: &random) ? order.first?.keyPath : nil
        return try WatchedRequest(
            FetchedResultsController(fetchRequest: request, context: context, sectionNameKeyPath: section),
            "\(entity) where \(format) by \(order.map(\.keyPath)) in \(section ?? "-") "
                + "\(request.fetchLimit)+\(request.fetchOffset)")
    }

    // MARK: Steps

    mutating func step() throws -> String {
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<6:
            let text = try (0..<Int.random(in: 1...3, using: &random)).map { _ in try change(context) }
            context.processPendingChanges()
            return text.joined(separator: "; ")
        case 6..<9:
            let text = try (0..<Int.random(in: 0...4, using: &random)).map { _ in try change(context) }
            try save(context)
            return "save " + text.joined(separator: "; ")
        case 9..<12:
            if Bool.random(using: &random) { other.refreshAllObjects() }
            let text = try (0..<Int.random(in: 1...4, using: &random)).map { _ in try change(other) }
            try save(other)
            return "other " + text.joined(separator: "; ")
        case 12, 13:
            context.refreshAllObjects()
            return "refresh"
        case 14:
            context.rollback()
            return "rollback"
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
            guard [.merge, .validationMultipleErrors, .deletedObject].contains(error.code) else { throw error }
            context.rollback()
        }
    }

    mutating func problem() throws -> String? {
        context.processPendingChanges()
        for watched in watched {
            if let problem = try watched.problem() { return problem }
            shownCount += watched.table.flat.count
            watched.table.forget()
        }
        return nil
    }

    private func objects(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
    }

    private mutating func change(_ context: ManagedObjectContext) throws -> String {
        let entity = model.entities.randomElement(using: &random) ?? ""
        guard let object = try objects(entity, context).randomElement(using: &random),
            Int.random(in: 0..<6, using: &random) > 0
        else {
            let object = try context.insertNewObject(forEntityName: entity)
            for attribute in model.attributes(of: entity) { _ = try set(attribute, of: object) }
            return "new \(object.objectID)"
        }
        let own = object.entity.name
        let ends = model.ends(of: own)
        if Int.random(in: 0..<8, using: &random) == 0 {
            context.delete(object)
            return "\(object.objectID) goes"
        }
        if let end = ends.randomElement(using: &random), Bool.random(using: &random) {
            return try link(object, end, context)
        }
        guard let attribute = model.attributes(of: own).randomElement(using: &random) else { return "nothing" }
        return try set(attribute, of: object)
    }

    private mutating func set(_ attribute: RandomModel.Attribute, of object: ManagedObject) throws -> String {
        let value = RandomModel.value(of: attribute, using: &random)
        try object.setValue(value, forKey: attribute.name)
        return "\(attribute.name) of \(object.objectID) = \(String(describing: value))"
    }

    private mutating func link(
        _ object: ManagedObject, _ end: RandomModel.End, _ context: ManagedObjectContext
    ) throws -> String {
        let target = try objects(end.destination, context).randomElement(using: &random)
        let text = "\(end.name) of \(object.objectID)"
        guard end.isToMany else {
            let value = Int.random(in: 0..<4, using: &random) > 0 ? target : nil
            try object.setValue(value, forKey: end.name)
            return "\(text) = \(String(describing: value?.objectID))"
        }
        var members = try object.value(forKey: end.name) as? [ManagedObject] ?? []
        guard let target else { return "nothing" }
        if let place = members.firstIndex(of: target) {
            members.remove(at: place)
        } else {
            members.insert(target, at: Int.random(in: 0...members.count, using: &random))
        }
        try object.setValue(members, forKey: end.name)
        return "\(text) = \(members.map(\.objectID))"
    }
}
