/// The views that a store keeps beside those of an app's model, brought over to a new model.
///
/// A view whose entity or properties have other names is written with the new ones; its columns keep their names. One
/// that the new model cannot have is left out.
package struct KeptViews: Sendable {
    /// The model with these views.
    package private(set) var model: ManagedObjectModel
    /// The views that are written again or left out, as changes of the model.
    package private(set) var changes: [SchemaDifference.Change] = []

    /// - Parameters:
    ///   - previous: the newest model of the store; nil if it has none.
    ///   - earlier: the models before, newest first.
    ///   - filled: the entities of these models that have objects, though `previous` does not have the entities.
    /// - Throws: `invalidModel` if the store has no numbers left.
    package init(
        _ model: ManagedObjectModel, from previous: Schema?, earlier: [Schema], filled: Set<EntityID> = []
    ) throws(StrataError) {
        self.model = model
        guard let previous else { return }
        let views = previous.model.views.filter { $0.isOfStore && model.view(named: $0.name) == nil }
        if views.isEmpty { return }
        var names: NewNames?
        if previous.model.entities != model.entities {
            let assignment = try previous.assignment.extended(
                for: model, from: previous, earlier: earlier, filled: filled)
            let version = ModelVersion(rawValue: previous.version.rawValue + 1)
            names = NewNames(old: previous, new: try Schema(version: version, model: model, assignment: assignment))
        }
        for view in views { add(view, names) }
    }

    private mutating func add(_ view: ViewDescription, _ names: NewNames?) {
        do {
            let renamed = try names?.view(view) ?? view
            model = try model.adding(views: [renamed])
            guard renamed != view else { return }
            changes.append(
                SchemaDifference.Change(
                    kind: .viewRenamed, work: .none, entityName: renamed.entityName, key: view.name,
                    sentence: "The view \(view.name) is written with the new names: \(renamed)."))
        } catch {
            let reason = error.details.first?.message ?? error.message
            changes.append(
                SchemaDifference.Change(
                    kind: .viewRemoved, work: .none, entityName: view.entityName, key: view.name,
                    sentence: "The view \(view.name), which the store keeps, is dropped: \(reason)"))
        }
    }
}

/// The names of a new model for the entities and properties of an old one.
private struct NewNames {
    let old: Schema
    let new: Schema

    func view(_ view: ViewDescription) throws(StrataError) -> ViewDescription {
        guard let entity = old.entity(named: view.entityName) else { return view }
        guard let renamed = new.entity(entity.id) else { throw gone(entity.name) }
        var result = view
        result.entityName = renamed.name
        let names = rewriter
        result.predicate = try view.predicate.map { predicate throws(StrataError) in
            try names.predicate(predicate, of: entity)
        }
        for index in view.keys.indices where !view.keys[index].isObject {
            result.keys[index].keyPath = try names.path(view.keys[index].keyPath, of: entity)
        }
        for (index, aggregate) in view.aggregates.enumerated() {
            if let keyPath = aggregate.keyPath {
                result.aggregates[index].keyPath = try names.path(keyPath, of: entity)
            }
            if let order = aggregate.orderPath {
                result.aggregates[index].orderPath = try names.path(order, of: entity)
            }
        }
        return result
    }

    /// Elements of composites stay.
    private var rewriter: NameRewriter<EntitySchema, StrataError> {
        NameRewriter { name, entity throws(StrataError) in
            guard let property = entity.property(named: name) else { return nil }
            guard let newName = self.name(of: property, in: entity) else {
                throw gone("\(entity.name).\(property.name)")
            }
            return (newName, property.relationship.flatMap { old.entity($0.destination) })
        } named: { name throws(StrataError) in
            guard let entity = old.entity(named: name) else { return nil }
            guard let renamed = new.entity(entity.id) else { throw gone(name) }
            return (renamed.name, entity)
        }
    }

    private func name(of property: PropertySchema, in entity: EntitySchema) -> String? {
        if let same = new.entity(entity.id)?.property(property.id) { return same.name }
        return new.heir(of: property.id, in: entity)?.name
    }

    private func gone(_ name: String) -> StrataError {
        StrataError(.invalidModel, "\(name) is removed.")
    }
}
