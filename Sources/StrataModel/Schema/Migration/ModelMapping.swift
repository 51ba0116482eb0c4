/// The mapping of one model's entities and properties to another's, without a store, as a migration infers it from
/// names and renaming identifiers.
///
/// ```swift
/// let mapping = try ModelMapping(from: ManagedObjectModel(entities: []), to: container.managedObjectModel)
/// for entity in mapping.entities where entity.kind != .copied { print(entity) }
/// ```
public struct ModelMapping: Sendable, Hashable {
    /// The kinds of mappings of an entity.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The entity is new.
        case added
        /// The entity is gone; its objects are hidden.
        case removed
        /// The objects are stored as they were.
        case copied
        /// The entity or a property of it has changed.
        case transformed
    }

    /// An entity of either model, with its mapping.
    public struct Entity: Sendable, Hashable {
        /// The name in the old model; nil for a new entity.
        public let sourceName: String?
        /// The name in the new model; nil for one that is gone.
        public let destinationName: String?
        /// The kind of the mapping.
        public let kind: Kind
        /// Its own and inherited properties: those of the new model in declared order, then those that are gone.
        public let properties: [Property]
        /// The changes, as sentences.
        public let changes: [String]
        /// The most work that a change takes for each object.
        public let work: MigrationPlan.Work
    }

    /// A property of either model.
    public struct Property: Sendable, Hashable {
        /// The name in the old model; nil for a property that has no values there.
        public let sourceName: String?
        /// The name in the new model; nil for one that is gone.
        public let destinationName: String?
    }

    /// The entities of the new model in its order, then those that are gone.
    public let entities: [Entity]

    /// Infers the mapping from one model to another, by which `PersistentContainer` migrates a store that has had no other
    /// model before.
    ///
    /// - Throws: `invalidModel` for a model with more entities or properties than a store can number.
    public init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(StrataError) {
        let old = try Schema(
            version: ModelVersion(rawValue: 1), model: source,
            assignment: try ModelAssignment().extended(for: source, from: nil))
        let new = try Schema(
            version: ModelVersion(rawValue: 2), model: destination,
            assignment: try old.assignment.extended(for: destination, from: old))
        let difference = SchemaDifference(from: old, to: new)
        let changes = Dictionary(grouping: difference.changes) { $0.entityName }
        let arriving = new.entities.map { entity in
            Entity(old.entity(entity.id), entity, new, changes[entity.name] ?? [])
        }
        let leaving = old.entities.filter { new.entity($0.id) == nil }.map { entity in
            Entity(entity, nil, new, difference.changes.filter { $0.removed?.entity == entity.id })
        }
        entities = arriving + leaving
    }
}

extension ModelMapping.Entity {
    fileprivate init(
        _ old: EntitySchema?, _ new: EntitySchema?, _ schema: Schema, _ changes: [SchemaDifference.Change]
    ) {
        sourceName = old?.name
        destinationName = new?.name
        var properties: [ModelMapping.Property] = []
        var used: Set<PropertyID> = []
        for property in new?.properties ?? [] where !property.isHidden {
            let source = old.flatMap { $0.property(property.id) ?? schema.origin(of: property.id, in: $0) }
            if let source { used.insert(source.id) }
            properties.append(.init(sourceName: source?.name, destinationName: property.name))
        }
        for property in old?.properties ?? [] where !property.isHidden && !used.contains(property.id) {
            properties.append(.init(sourceName: property.name, destinationName: nil))
        }
        self.properties = properties
        let own = changes.filter { $0.kind != .metadata }
        self.changes = own.map(\.sentence)
        work = own.map(\.work).max() ?? .none
        let isSame = own.isEmpty && properties.allSatisfy { $0.sourceName == $0.destinationName }
        kind = old == nil ? .added : new == nil ? .removed : isSame ? .copied : .transformed
    }
}

extension ModelMapping.Entity: CustomStringConvertible {
    /// The names, the kind and the changes.
    public var description: String {
        let names = [sourceName, destinationName].compactMap(\.self)
        let title = names.count == 2 && names[0] == names[1] ? names[0] : names.joined(separator: " -> ")
        return (["\(title): \(kind.rawValue)"] + changes).joined(separator: "\n  ")
    }
}
