import Locking
import StrataModel
import StrataStore

/// The schema and the compiled shapes of requests for one class.
///
/// While a container that has the class is open, these are the schema and the shapes of its store, so the store runs
/// the shape that the check has compiled. Otherwise the schema is made of the class and of all classes that its
/// relationships lead to.
final class ClassModel: Sendable {
    let schema: Schema
    let shapes: QueryShapeCache
    private let entityName: String
    private let entity: EntitySchema?

    private init(_ schema: Schema, _ shapes: QueryShapeCache, _ entityName: String) {
        self.schema = schema
        self.shapes = shapes
        self.entityName = entityName
        entity = schema.entity(named: entityName)
    }

    func entity(named name: String) -> EntitySchema? {
        name == entityName ? entity : schema.entity(named: name)
    }

    // MARK: By class

    /// An open store, as far as requests need it.
    private struct OpenStore {
        let model: ManagedObjectModel
        let schema: Schema
        let shapes: QueryShapeCache
    }

    private struct Entry {
        /// The entities that can be reached from the class, as the classes declare them; nil until a request needs them.
        var declared: ManagedObjectModel?
        /// Set where the declared model has problems. The container refuses it with all of them.
        var isUnsound = false
        /// The store that was opened last of those whose container has the class.
        var store: OpenStore?
    }

    /// The models are apart from the entries, so that a request copies nothing but a reference.
    private struct Classes {
        var models: [ObjectIdentifier: ClassModel] = [:]
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private static let classes = Locked(Classes())

    /// - Returns: nil for `ManagedObject` itself, and for a class whose model is not sound.
    static func around(_ objectClass: ManagedObject.Type) -> ClassModel? {
        if let known = classes.withLock({ $0.models[ObjectIdentifier(objectClass)] }) { return known }
        return objectClass == ManagedObject.self ? nil : make(around: objectClass)
    }

    /// Lets requests for classes be checked against the schema of a store that has been opened.
    static func adopt(_ binding: StoreBinding, for objectClasses: some Sequence<ManagedObject.Type>) {
        let store = OpenStore(model: binding.model, schema: binding.schema, shapes: binding.store.shapes)
        classes.withLock { classes in
            for key in objectClasses.lazy.map(ObjectIdentifier.init) {
                classes.entries[key, default: Entry()].store = store
                classes.models[key] = nil
            }
        }
    }

    /// Undoes `adopt(_:for:)`, so that nothing of a closed store is kept.
    static func release(_ binding: StoreBinding, for objectClasses: some Sequence<ManagedObject.Type>) {
        classes.withLock { classes in
            for key in objectClasses.lazy.map(ObjectIdentifier.init)
            where classes.entries[key]?.store?.schema === binding.schema {
                classes.entries[key]?.store = nil
                classes.models[key] = nil
            }
        }
    }

    private static func make(around objectClass: ManagedObject.Type) -> ClassModel? {
        let key = ObjectIdentifier(objectClass)
        var entry = classes.withLock { $0.entries[key] } ?? Entry()
        guard !entry.isUnsound else { return nil }
        var made: ClassModel?
        do {
            let declared = try entry.declared ?? declaredModel(around: objectClass)
            entry.declared = declared
            if let store = entry.store, declared.entities.allSatisfy({ store.model.entitiesByName[$0.name] == $0 }) {
                made = ClassModel(store.schema, store.shapes, objectClass.entityName)
            } else {
                let schema = try Schema(
                    version: ModelVersion(rawValue: 1), model: declared,
                    assignment: try ModelAssignment().extended(for: declared, from: nil))
                made = ClassModel(schema, QueryShapeCache(), objectClass.entityName)
            }
        } catch {
            entry.isUnsound = true
        }
        classes.withLock { classes in
            // If another thread has opened or closed a store meanwhile, the next request decides again.
            guard classes.entries[key]?.store?.schema === entry.store?.schema else { return }
            classes.entries[key] = entry
            classes.models[key] = made
        }
        return made
    }

    private static func declaredModel(around objectClass: ManagedObject.Type) throws -> ManagedObjectModel {
        var waiting = [objectClass]
        var found: [ManagedObject.Type] = []
        while let next = waiting.popLast() {
            guard !found.contains(where: { $0 == next }) else { continue }
            found.append(next)
            let definition = EntityDefinition.of(next)
            waiting += definition.destinations.values
            if let superclass = definition.superclass { waiting.append(superclass) }
        }
        return try ManagedObjectModel(entities: EntityDefinition.descriptions(of: found))
    }
}
