import StrataModel
import StrataStore

/// What names of properties mean in the model of a moment.
///
/// An address outlives a migration. So a name that the model of the moment does not have means the property that has it in
/// another model of the store, the newest first, under its name of then.
struct MomentNames {
    private let schema: Schema
    /// The newest first.
    private let schemas: [Schema]
    private let lineage: PropertyLineage

    /// - Throws: `corrupt` if the record of a model cannot be decoded.
    init(_ schema: Schema, of store: Store) throws {
        self.schema = schema
        schemas = try store.schemas.reversed()
        lineage = try store.propertyLineage()
    }

    /// A key path in the names of the moment; a name that no model of the store has stays as it is.
    ///
    /// - Throws: `AbsentProperty` if only other models have it.
    func keyPath(_ path: String, of entity: EntitySchema) throws(AbsentProperty) -> String {
        var next: EntitySchema? = entity
        var steps: [String] = []
        for step in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            if let current = next, step.lowercased() != "self" {
                let property = try property(named: step, of: current)
                next = property?.relationship.flatMap { schema.entity($0.destination) }
                steps.append(property?.name ?? step)
            } else {
                steps.append(step)
            }
        }
        return steps.joined(separator: ".")
    }

    /// The property with this name at the moment, or in another model; nil if no model has it.
    ///
    /// - Throws: `AbsentProperty` if only other models have it.
    func property(named name: String, of entity: EntitySchema) throws(AbsentProperty) -> PropertySchema? {
        if let property = entity.property(named: name) { return property }
        var known: ModelVersion?
        for other in schemas where other.version != schema.version {
            guard let namesake = other.entity(entity.id)?.property(named: name) else { continue }
            let newest = lineage.newest(namesake.id)
            if let found = entity.properties.first(where: { lineage.newest($0.id) == newest }) { return found }
            known = known ?? other.version
        }
        if let known { throw AbsentProperty(name: name, entity: entity.name, version: schema.version, known: known) }
        return nil
    }

    /// A condition on objects of the entity in the names of the moment.
    ///
    /// - Throws: `AbsentProperty` if only other models have a name in it.
    func predicate(_ predicate: FetchPredicate, of entity: EntitySchema) throws(AbsentProperty) -> FetchPredicate {
        try predicate.mappingKeyPaths { path throws(AbsentProperty) in try keyPath(path, of: entity) }
    }

    /// A column in the names of the moment. Its heading is another one only if the column is a key path.
    ///
    /// - Throws: `AbsentProperty` if only other models have a name in it.
    func column(_ column: OutputColumn, of entity: EntitySchema) throws(AbsentProperty) -> OutputColumn {
        let expression = try column.expression.mappingKeyPaths { path throws(AbsentProperty) in
            try keyPath(path, of: entity)
        }
        guard case .keyPath(let path) = column.expression, column.name == path, case .keyPath(let then) = expression
        else { return OutputColumn(column.name, expression) }
        return OutputColumn(then, expression)
    }
}

/// A property that the model of the moment does not have, but another one.
struct AbsentProperty: Error {
    let name: String
    let entity: String
    let version: ModelVersion
    let known: ModelVersion

    var sentence: String {
        "\(entity) has no property named \(name) at this moment, in model version \(version.rawValue). It has one in version "
            + "\(known.rawValue)."
    }
}
