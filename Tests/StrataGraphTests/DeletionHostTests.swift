import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataGraph
@testable import StrataStore

/// Deletes the same objects of a random model as objects of a context, as rows of a context, and by a batch: the delete
/// rules must come to the same.
@Suite(.verifiesStores) struct DeletionHostTests {
    private enum Host: CaseIterable { case objects, rows, batch }

    @Test(arguments: RandomTesting.seeds.flatMap { seed in (0..<4).map { seed * 100 + $0 } })
    func everyHostComesToTheSame(_ seed: UInt64) throws {
        var outcomes: [Host: [String]] = [:]
        for host in Host.allCases {
            var run = try DeletionRun(seed: seed)
            var outcome: [String] = []
            for _ in 0..<6 {
                try run.fill()
                let ids = try run.chooseRoots()
                outcome += try run.outcome { context in
                    switch host {
                    case .objects: try run.deleteObjects(ids, in: context)
                    case .rows: try run.deleteRows(ids, in: context)
                    case .batch: try run.deleteInBatch(ids, in: context)
                    }
                }
            }
            outcomes[host] = outcome
        }
        for host in [Host.rows, .batch] {
            let difference = zip(outcomes[.objects] ?? [], outcomes[host] ?? []).first { $0 != $1 }
            #expect(outcomes[host] == outcomes[.objects], "seed \(seed), \(host): \(difference.map { "\($0)" } ?? "")")
        }
    }
}

/// One store of a random model, filled and emptied as a seed says.
private struct DeletionRun {
    /// One end of a relationship of the random model.
    private struct RandomLink {
        let source: String
        let name: String
        let isToMany: Bool
        let isRequired: Bool
        let destination: String
    }

    private let container: PersistentContainer
    private var random: SeededGenerator
    private let links: [RandomLink]
    private var number = 0
    /// A subentity stands before its parent.
    private static let entityNames = ["C", "A", "B"]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        var links: [RandomLink] = []
        var properties: [String: [PropertyDescription]] = [:]
        for number in 0..<Int.random(in: 2...5, using: &random) {
            let source = ["A", "B"].randomElement(using: &random) ?? "A"
            let destination = Self.entityNames.randomElement(using: &random) ?? "B"
            let isToMany = Bool.random(using: &random), hasInverse = Int.random(in: 0..<4, using: &random) > 0
            let isBackToMany = Bool.random(using: &random)
            let (name, back) = ("link\(number)", "back\(number)")
            var ends = [
                RandomLink(
                    source: source, name: name, isToMany: isToMany,
                    isRequired: Int.random(in: 0..<8, using: &random) == 0, destination: destination)
            ]
            if hasInverse {
                ends.append(
                    RandomLink(
                        source: destination, name: back, isToMany: isBackToMany,
                        isRequired: Int.random(in: 0..<8, using: &random) == 0, destination: source))
            }
            for end in ends {
                let inverse = ends.first { $0.name != end.name }?.name
                properties[end.source, default: []].append(Self.property(end, inverse: inverse, &random))
            }
            links += ends
        }
        self.links = links
        let model = try ManagedObjectModel(
            entities: Self.entityNames.map { name in
                EntityDescription(
                    name: name, superentityName: name == "C" ? "A" : nil,
                    properties: (name == "C"
                        ? [] : [.attribute(AttributeDescription(name: "name", type: .string, isOptional: true))])
                        + (properties[name] ?? []))
            })
        container = PersistentContainer(
            name: "Deletions", model: model, at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
    }

    private static func property(
        _ end: RandomLink, inverse: String?, _ random: inout SeededGenerator
    ) -> PropertyDescription {
        let rules: [DeleteRule] = [.nullify, .nullify, .cascade, .deny, .noAction]
        let rule = rules.randomElement(using: &random) ?? .nullify
        let isOrdered = Bool.random(using: &random)
        return .relationship(
            RelationshipDescription(
                name: end.name, destinationEntityName: end.destination, inverseName: inverse,
                hasNoInverse: inverse == nil, isToMany: end.isToMany, isOrdered: end.isToMany && isOrdered,
                isOptional: !end.isRequired, minCount: end.isToMany && end.isRequired ? 1 : 0, deleteRule: rule))
    }

    // MARK: The graph

    private func all(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        try ["A", "B"].flatMap { entity in
            try context.fetch(FetchRequest<ManagedObject>(entityName: entity, sortedBy: [SortDescription("name")]))
        }
    }

    private func isA(_ object: ManagedObject, _ entity: String) -> Bool {
        let name = object.entity.name
        return name == entity || entity == "A" && name == "C"
    }

    /// Adds objects and links; what the model refuses is left out.
    mutating func fill() throws {
        let context = container.newBackgroundContext()
        var objects = try all(context)
        for _ in 0..<10 {
            let object = try context.insertNewObject(
                forEntityName: Self.entityNames.randomElement(using: &random) ?? "A")
            try object.setValue("\(1000 + number)", forKey: "name")
            number += 1
            objects.append(object)
        }
        for link in links {
            for object in objects where isA(object, link.source) {
                let targets = objects.filter { isA($0, link.destination) }
                let isLinked = Int.random(in: 0..<3, using: &random) > 0
                guard let target = targets.randomElement(using: &random), isLinked || link.isRequired else { continue }
                // A reference that `noAction` left behind may be in the way.
                if link.isToMany {
                    try? object.insertMember(target, forKey: link.name)
                } else {
                    try? object.setValue(target, forKey: link.name)
                }
            }
        }
        do { try context.save() } catch { context.rollback() }
    }

    mutating func chooseRoots() throws -> [ObjectID] {
        let ids = try all(container.newBackgroundContext()).map(\.objectID)
        return Array(ids.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
    }

    // MARK: Deleting

    func deleteObjects(_ ids: [ObjectID], in context: ManagedObjectContext) throws {
        let held = try all(context)
        // The deletion of one root may have deleted the next.
        for id in ids where !context.deletedObjectIDs.contains(id) {
            context.delete(try context.existingObject(with: id))
        }
        try context.save()
        withExtendedLifetime(held) {}
    }

    func deleteRows(_ ids: [ObjectID], in context: ManagedObjectContext) throws {
        for id in ids { try context.deleteAll(from: id) }
        #expect(ids.isEmpty || !context.pending.deletedRows.isEmpty)
        try context.save()
    }

    func deleteInBatch(_ ids: [ObjectID], in context: ManagedObjectContext) throws {
        guard let first = ids.first else { return }
        var result = BatchResult()
        let target = BatchTarget(request: StoreRequest(entityID: first.entityID), objectIDs: ids)
        try BatchWriter(context).delete(ids[...], target, .count, into: &result)
    }

    /// Whether it was saved or why not, and the graph afterwards.
    func outcome(_ body: (ManagedObjectContext) throws -> Void) throws -> [String] {
        var outcome: [String] = []
        do {
            try body(container.newBackgroundContext())
        } catch let error as StrataError {
            let all = error.details.isEmpty ? [error] : error.details
            outcome = all.map { error in
                let place = [error.context.entityName, error.context.key, error.context.objectID?.description]
                return "\(error.code) \(place.map { $0 ?? "-" }.joined(separator: " "))"
            }.sorted()
        }
        let context = container.newBackgroundContext()
        return try outcome
            + all(context).map { object in
                let properties = object.entity.properties.map(\.name).filter { $0 != "name" }.sorted()
                let values = try properties.map { "\($0): \(names(try object.value(forKey: $0)))" }
                return "\(names(object)) \(values)"
            }
    }

    private func names(_ value: Any?) -> String {
        switch value {
        case let one as ManagedObject: (try? one.value(forKey: "name")) as? String ?? "gone"
        case let many as [ManagedObject]: many.map(names).joined(separator: " ")
        default: "none"
        }
    }
}
