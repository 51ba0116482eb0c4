import StrataModel
import StrataStore

/// An open store with the classes of its objects: what every context of a container shares.
///
/// Immutable after `init`; the store is safe to use from any thread.
final class StoreBinding: Sendable {
    let store: Store
    let schema: Schema
    /// The model as the container was given it.
    let model: ManagedObjectModel
    /// By entity number.
    private let entities: [EntityRuntime?]
    private let byName: [String: EntityRuntime]
    private let byClass: [ObjectIdentifier: EntityRuntime]
    private let links: LinkMap
    let lookups = LookupShapes()
    /// Hidden properties that hold the positions of objects in ordered relationships.
    let positionProperties: Set<PropertyID>
    /// The work and memory allowed to a request that has no budget of its own.
    let requestBudget: RequestBudget
    /// Gets each save, fetch and read of faults.
    let observer: (any ContainerObserver)?
    /// Whether there is an observer; reading a Bool costs less than reading the existential.
    let isObserved: Bool
    /// Whether any to-many has a minimum or maximum number of members.
    let hasBoundedLinks: Bool
    /// Whether any attribute is encrypted under the key of a subject.
    let hasSubjects: Bool
    /// The size in bytes from which values are kept in files of their own.
    let externalStorageThreshold = 32 * 1024

    /// - Parameter schema: the model through which the contexts read. If it is one of the past, entities that have
    ///   changed since have no class.
    init(
        store: Store, schema: Schema, classes: [String: ManagedObject.Type], model: ManagedObjectModel? = nil,
        requestBudget: RequestBudget = .standard, observer: (any ContainerObserver)? = nil
    ) throws {
        self.store = store
        self.observer = observer
        isObserved = observer != nil
        self.requestBudget = requestBudget
        self.model = model ?? schema.model
        self.schema = schema
        var byName: [String: EntityRuntime] = [:]
        var byClass: [ObjectIdentifier: EntityRuntime] = [:]
        var table: [EntityRuntime?] = []
        for entity in schema.entities {
            let objectClass = Self.objectClass(of: entity, classes, newest: store.schema)
            let order = objectClass == ManagedObject.self ? [] : EntityDefinition.of(objectClass).order
            let runtime = try EntityRuntime(
                entity, objectClass: objectClass, order: order,
                hasPredicates: !schema.validationPredicates(of: entity).isEmpty, keyRing: store.keyRing)
            byName[entity.name] = runtime
            if objectClass != ManagedObject.self { byClass[ObjectIdentifier(objectClass)] = runtime }
            let number = Int(entity.id.rawValue)
            while table.count <= number { table.append(nil) }
            table[number] = runtime
        }
        entities = table
        self.byName = byName
        self.byClass = byClass
        links = schema.links
        positionProperties = Set(
            schema.entities.flatMap(\.properties).compactMap { property in
                if case .position = property.kind { property.id } else { nil }
            })
        hasSubjects = table.contains { $0?.subjects != nil }
        hasBoundedLinks = schema.links.all.contains(where: \.isBounded)
    }

    /// Logs a warning for each transformer that the model names and that is not registered: its attributes cannot be
    /// read or set.
    func warnOfMissingTransformers() {
        var users: [String: [String]] = [:]
        for entity in model.entities {
            for case .attribute(let attribute) in entity.properties where attribute.type == .transformable {
                let name = attribute.valueTransformerName ?? ""
                guard !attribute.isTransient, !StandardTransformer.isMeant(by: name),
                    PropertyRuntime.registeredTransformer(name) == nil
                else { continue }
                users[name, default: []].append("\(entity.name).\(attribute.name)")
            }
        }
        for (name, attributes) in users.sorted(by: { $0.key < $1.key }) {
            let others = attributes.count > 1 ? " and \(attributes.count - 1) more" : ""
            StoreLogger.warn(
                "No value transformer is registered as \"\(name)\", which \(attributes[0])\(others) needs. "
                    + "Register it before these attributes are used.")
        }
    }

    private static func objectClass(
        of entity: EntitySchema, _ classes: [String: ManagedObject.Type], newest: Schema
    ) -> ManagedObject.Type {
        guard let objectClass = classes[entity.name] else { return ManagedObject.self }
        if newest.entity(entity.id) === entity { return objectClass }
        guard let declared = newest.entity(named: entity.name)?.properties,
            declared.count == entity.properties.count,
            zip(declared, entity.properties).allSatisfy({ $0.name == $1.name && $0.storage == $1.storage })
        else { return ManagedObject.self }
        return objectClass
    }

    /// Reads the state at an event number through the binding's model.
    ///
    /// - Throws: `modelChanged` for a state that was written under a newer model; see `Store.read`.
    func read<R>(
        at eventNumber: EventNumber, layers: [Layer] = [], monitor: QueryMonitor? = nil, budget: RequestBudget? = nil,
        _ body: (Snapshot) throws -> R
    ) throws -> R {
        try store.read(at: eventNumber, layers: layers, through: schema, monitor: monitor, budget: budget, body)
    }

    /// The newest state that can be read through the binding's model: where others have installed a newer one, the last
    /// state before it.
    func newestState() throws -> EventNumber { try store.newestState(through: schema) }

    func entity(_ id: EntityID) -> EntityRuntime? {
        let number = Int(id.rawValue)
        return number < entities.count ? entities[number] : nil
    }

    /// Whether an object is of an entity that has left the model. Migrations of earlier versions left links to some.
    func isGone(_ id: ObjectID) -> Bool {
        schema.entity(id.entityID) == nil && schema.assignment.wasGiven(id.entityID)
    }

    func entity(named name: String) -> EntityRuntime? { byName[name] }
    func entity(of objectClass: ManagedObject.Type) -> EntityRuntime? { byClass[ObjectIdentifier(objectClass)] }

    func link(_ id: PropertyID) -> Link? { links.link(id) }

    /// The relationships without inverse that may lead to objects of the entity, read backwards.
    func incomingLinks(of entity: EntityID) -> [Link] { links.links(ofOwners: entity).filter(\.id.isHiddenInverse) }
}
