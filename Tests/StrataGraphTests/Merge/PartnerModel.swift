import StrataGraph
import StrataModel

/// One-to-ones of every kind: between two entities, of an entity with itself, inherited, with each delete rule; and
/// beside them a to-one with a to-many at the other end.
enum PartnerModel {
    static func container(at location: PersistentStoreLocation = .inMemory) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Partners", model: try model(), at: location, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    private static func model() throws -> ManagedObjectModel {
        let name = DerivedModel.plain("name", .string)
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Being",
                properties: [
                    name, DerivedModel.link("card", "Card", "holder"),
                    DerivedModel.link("spouse", "Being", "spouse"),
                    DerivedModel.link("shadow", "Shadow", "being", .cascade),
                    DerivedModel.link("house", "House", "owner"),
                    DerivedModel.link("room", "House", "guests"),
                ]),
            EntityDescription(
                name: "Robot", superentityName: "Being", properties: [DerivedModel.plain("serial", .string)]),
            EntityDescription(name: "Card", properties: [name, DerivedModel.link("holder", "Being", "card")]),
            EntityDescription(name: "Shadow", properties: [name, DerivedModel.link("being", "Being", "shadow")]),
            EntityDescription(
                name: "House",
                properties: [
                    name, DerivedModel.link("owner", "Being", "house", .cascade),
                    DerivedModel.link("guests", "Being", "room", isToMany: true),
                ]),
            EntityDescription(
                name: "GoldCard", superentityName: "Card", properties: [DerivedModel.plain("limit", .integer32)]),
        ])
    }

    static let partners: [String: [(name: String, inverse: String)]] = [
        "Being": [("card", "holder"), ("spouse", "spouse"), ("shadow", "being"), ("house", "owner")],
        "Card": [("holder", "card")], "Shadow": [("being", "shadow")], "House": [("owner", "house")],
    ]

    /// What two ends say differently; nil when all agree.
    static func disagreement(_ context: ManagedObjectContext) throws -> String? {
        for (entity, links) in partners.sorted(by: { $0.key < $1.key }) {
            for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
                for link in links {
                    guard let partner = try object.value(forKey: link.name) as? ManagedObject else { continue }
                    let back = try partner.value(forKey: link.inverse) as? ManagedObject
                    if back !== object || partner.isDeleted {
                        return "\(object.objectID).\(link.name) is \(partner.objectID), whose \(link.inverse) is "
                            + "\(back.map { "\($0.objectID)" } ?? "nobody")"
                    }
                }
            }
        }
        return nil
    }

    /// The same of what fetches find: joins over a one-to-one lead from either end to the other.
    static func joinDisagreement(_ context: ManagedObjectContext) throws -> String? {
        func count(_ entity: String, _ format: String) throws -> Int {
            try context.count(
                for: try FetchRequest<ManagedObject>(
                    entityName: entity, where: try FetchPredicate(format: format, argumentArray: [])))
        }
        for (entity, links) in partners {
            for (link, inverse) in links {
                let (led, back) = (try count(entity, "\(link) != nil"), try count(entity, "\(link).\(inverse) == SELF"))
                if led != back { return "\(led) of \(entity) have a \(link), \(back) lead back" }
            }
        }
        return nil
    }
}
