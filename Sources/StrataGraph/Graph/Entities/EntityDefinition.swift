import Locking
public import StrataModel

// In this folder: what an entity class says of itself (`EntityDefinition`, `EntityBuilder` and options) and what its
// objects need at run time (`EntityRuntime`).

/// An entity as its class declares it, before it is part of a model.
///
/// Unchecked: the key paths and classes in it are literals of generated code, never changed after `init`.
public struct EntityDefinition: @unchecked Sendable {
    /// Without the inverses that are named by key path; the model fills them in.
    public let description: EntityDescription
    let objectClass: ManagedObject.Type
    let superclass: ManagedObject.Type?
    /// Declared property names in the order of accessor indexes, inherited first.
    let order: [String]
    let names: [AnyKeyPath: String]
    /// `\Leaf.objectID`, which is no property.
    let objectIDPath: AnyKeyPath
    let inverses: [String: InverseReference]
    let destinations: [String: ManagedObject.Type]
    /// The types of transformables, without optionals.
    let valueTypes: [String: Any.Type]
    let problems: [String]

    /// Generated code calls this with the class, its parent and its chain of descriptions.
    public init<Leaf: ManagedObject>(
        _ leaf: Leaf.Type, superclass: ManagedObject.Type, _ options: EntityOption...,
        describe: (inout EntityBuilder<Leaf>) -> Void
    ) {
        var builder = EntityBuilder<Leaf>(name: leaf.entityName)
        describe(&builder)
        let isRoot = superclass == ManagedObject.self
        if !isRoot { builder.description.superentityName = superclass.entityName }
        description = builder.finish(options: options)
        objectClass = leaf
        self.superclass = isRoot ? nil : superclass
        order = builder.order
        names = builder.names
        objectIDPath = \Leaf.objectID
        inverses = builder.inverses
        destinations = builder.destinations
        valueTypes = builder.valueTypes
        problems = builder.problems
    }

    private init(plain objectClass: ManagedObject.Type) {
        description = EntityDescription(name: objectClass.entityName)
        self.objectClass = objectClass
        superclass = nil
        order = []
        names = [:]
        objectIDPath = \ManagedObject.objectID
        inverses = [:]
        destinations = [:]
        valueTypes = [:]
        problems = ["\(objectClass) is not an @Entity"]
    }

    static func plain(_ objectClass: ManagedObject.Type) -> EntityDefinition { EntityDefinition(plain: objectClass) }

    // Definitions by class, made once a process. Guarded by the mutex.
    private static let cache = Locked<[ObjectIdentifier: EntityDefinition]>([:])

    static func of(_ objectClass: ManagedObject.Type) -> EntityDefinition {
        let key = ObjectIdentifier(objectClass)
        if let known = cache.withLock({ $0[key] }) { return known }
        let made = objectClass.entityDefinition
        return cache.withLock {
            if let known = $0[key] { return known }
            $0[key] = made
            return made
        }
    }
}

extension EntityDefinition {
    /// The descriptions of `classes` with inverses named and parents added, in the order given.
    ///
    /// - Throws: `invalidModel` when a class is no entity or a key path does not name a property.
    static func descriptions(of classes: [ManagedObject.Type]) throws -> [EntityDescription] {
        var problems: [String] = []
        var definitions: [EntityDefinition] = []
        var seen: Set<ObjectIdentifier> = []
        func add(_ objectClass: ManagedObject.Type) {
            guard seen.insert(ObjectIdentifier(objectClass)).inserted else { return }
            let definition = of(objectClass)
            if let superclass = definition.superclass { add(superclass) }
            definitions.append(definition)
        }
        for objectClass in classes { add(objectClass) }
        let descriptions = definitions.map { definition in
            problems += definition.problems
            return definition.withInverses(&problems)
        }
        guard problems.isEmpty else {
            let details = problems.map { StrataError(.invalidModel, $0) }
            throw StrataError(
                .invalidModel, "The model makes no sense: \(problems.joined(separator: "; ")).", details: details)
        }
        return descriptions
    }

    private func withInverses(_ problems: inout [String]) -> EntityDescription {
        var result = description
        for index in result.properties.indices {
            guard case .relationship(var relationship) = result.properties[index],
                let inverse = inverses[relationship.name]
            else { continue }
            if let name = Self.of(inverse.owner).names[inverse.path] {
                relationship.inverseName = name
                result.properties[index] = .relationship(relationship)
            } else {
                problems.append(
                    "\(description.name).\(relationship.name): the inverse is not a property of \(inverse.owner)")
            }
        }
        return result
    }
}
