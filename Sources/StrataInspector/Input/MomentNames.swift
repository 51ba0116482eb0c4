import StrataModel
import StrataStore

/// The meanings of names of properties in the model of a moment.
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
        try rewriter().path(path, of: entity)
    }

    /// - Parameter kept: names that are no properties.
    private func rewriter(keeping kept: Set<String> = []) -> NameRewriter<EntitySchema, AbsentProperty> {
        NameRewriter(keeping: kept) { name, entity throws(AbsentProperty) in
            guard let property = try property(named: name, of: entity) else { return nil }
            return (property.name, property.relationship.flatMap { schema.entity($0.destination) })
        } named: { name throws(AbsentProperty) in
            if let entity = schema.entity(named: name) { return (name, entity) }
            let found = schemas.lazy.compactMap { $0.entity(named: name) }.compactMap { schema.entity($0.id) }.first
            return found.map { ($0.name, $0) }
        }
    }

    /// The property with this name at the moment, or in another model; nil if no model has it.
    ///
    /// - Throws: `AbsentProperty` if only other models have it.
    func property(named name: String, of entity: EntitySchema) throws(AbsentProperty) -> PropertySchema? {
        if let property = entity.property(named: name) { return property }
        var known: ModelVersion?
        for other in schemas where other.version != schema.version {
            guard let namesake = other.entity(entity.id)?.property(named: name) else { continue }
            let newest = lineage.newest(namesake.id, in: entity.id)
            if let found = entity.properties.first(where: { lineage.newest($0.id, in: entity.id) == newest }) {
                return found
            }
            known = known ?? other.version
        }
        if let known { throw AbsentProperty(name: name, entity: entity.name, version: schema.version, known: known) }
        return nil
    }

    /// A condition on objects of the entity in the names of the moment.
    ///
    /// - Parameter kept: names in it that are no properties, such as those of columns.
    /// - Throws: `AbsentProperty` if only other models have a name in it.
    func predicate(
        _ predicate: FetchPredicate, of entity: EntitySchema, keeping kept: Set<String> = []
    ) throws(AbsentProperty) -> FetchPredicate {
        try rewriter(keeping: kept).predicate(predicate, of: entity)
    }

    /// An order in the names of the moment.
    ///
    /// - Parameter kept: names in it that are no properties, such as those of columns.
    /// - Throws: `AbsentProperty` if only other models have a name in it.
    func order(
        _ order: [SortDescription], of entity: EntitySchema, keeping kept: Set<String> = []
    ) throws(AbsentProperty) -> [SortDescription] {
        var result = order
        for index in order.indices where !kept.contains(order[index].keyPath) {
            let text = order[index].keyPath
            // A text that cannot be parsed is the name of a column, or the query refuses it.
            guard let written = try? FetchExpression(format: text) else { continue }
            let named = try rewriter(keeping: kept).expression(written, of: entity)
            if named != written { result[index].keyPath = Self.text(named) }
        }
        return result
    }

    private static func text(_ expression: FetchExpression) -> String {
        if case .keyPath(let path) = expression { path } else { "\(expression)" }
    }

    /// A column in the names of the moment. Its heading is another one only if the column is a key path.
    ///
    /// - Throws: `AbsentProperty` if only other models have a name in it.
    func column(_ column: OutputColumn, of entity: EntitySchema) throws(AbsentProperty) -> OutputColumn {
        let expression = try rewriter().expression(column.expression, of: entity)
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
