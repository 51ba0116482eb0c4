import Foundation
import StrataGraph
import StrataModel

/// OO1 in Strata: one context that keeps the objects it has read.
final class StrataCatalog: CatalogPeer {
    private let url: URL
    private let durability: PersistentStoreDurability
    private var container: PersistentContainer
    private var context: ManagedObjectContext
    private var sum = 0
    private static let batch = 2_500

    init(at url: URL, _ durability: PersistentStoreDurability, _ catalog: Catalog) throws {
        self.url = url
        self.durability = durability
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
        // Connections lead to later parts, so all parts are made first.
        var ids: [ObjectID] = []
        for first in stride(from: 0, to: catalog.count, by: 10_000) {
            for part in catalog.parts[first..<min(catalog.count, first + 10_000)] { ids.append(add(part).objectID) }
            try saveAndLetGo()
        }
        for first in stride(from: 0, to: catalog.count, by: Self.batch) {
            for part in catalog.parts[first..<min(catalog.count, first + Self.batch)] {
                connect(part) { [context] in context.object(with: ids[$0 - 1]) as? CatalogPart }
            }
            try saveAndLetGo()
        }
    }

    private static func open(_ url: URL, _ durability: PersistentStoreDurability) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "catalog", entities: [CatalogPart.self, CatalogConnection.self], at: .url(url),
            options: .init(durability: durability))
        try container.loadPersistentStores()
        return container
    }

    private func saveAndLetGo() throws {
        try context.save()
        context.reset()
    }

    func reopen() throws {
        context.reset()
        container.close()
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
        context.retainsRegisteredObjects = true
    }

    private func add(_ value: Catalog.Part) -> CatalogPart {
        let part = CatalogPart(context: context)
        part.id = Int32(value.id)
        part.type = value.type
        part.x = Int32(value.x)
        part.y = Int32(value.y)
        part.build = value.build
        return part
    }

    private func connect(_ value: Catalog.Part, _ part: (Int) -> CatalogPart?) {
        for index in value.targets.indices {
            let connection = CatalogConnection(context: context)
            connection.type = value.types[index]
            connection.length = Int32(value.lengths[index])
            connection.from = part(value.id)
            connection.to = part(value.targets[index])
        }
    }

    private func part(_ id: Int) throws -> CatalogPart? {
        try context.object(CatalogPart.self, where: \.id, is: Int32(id))
    }

    /// The parts with the ids, by id, in one request.
    private func parts(_ ids: Set<Int>) throws -> [Int: CatalogPart] {
        let found = try context.fetch(FetchRequest<CatalogPart>().where { $0.id.isIn(ids.map(Int32.init)) })
        return Dictionary(uniqueKeysWithValues: found.map { (Int($0.id), $0) })
    }

    private func take(_ part: CatalogPart) {
        sum &+= doNothing(Int(part.x), Int(part.y)) &+ part.type.utf8.count
    }

    func look(up ids: [Int]) throws -> Int {
        try ids.reduce(0) { count, id in
            guard let part = try part(id) else { return count }
            take(part)
            return count + 1
        }
    }

    func traverse(from id: Int, depth: Int, isReverse: Bool) throws -> Int {
        guard let start = try part(id) else { return 0 }
        var count = 0
        walk(start, depth, isReverse, &count)
        return count
    }

    private func walk(_ part: CatalogPart, _ depth: Int, _ isReverse: Bool, _ count: inout Int) {
        take(part)
        count += 1
        guard depth > 0 else { return }
        if isReverse {
            for connection in part.from {
                if let next = connection.from { walk(next, depth - 1, true, &count) }
            }
        } else {
            for connection in part.to {
                if let next = connection.to { walk(next, depth - 1, false, &count) }
            }
        }
    }

    func insert(_ parts: [Catalog.Part]) throws {
        var known = try self.parts(Set(parts.flatMap(\.targets)))
        for value in parts {
            known[value.id] = add(value)
            connect(value) { known[$0] }
        }
        try context.save()
    }

    func summary() throws -> [Int] {
        let parts = try context.fetch(FetchRequest<CatalogPart>())
        let connections = try context.fetch(FetchRequest<CatalogConnection>())
        return [
            parts.count, connections.count, parts.reduce(0) { $0 + Int($1.id) * 7 + Int($1.x) * 3 + Int($1.y) * 5 },
            connections.reduce(0) { $0 + Int($1.length) + Int($1.from?.id ?? 0) * 3 + Int($1.to?.id ?? 0) },
        ]
    }
}
