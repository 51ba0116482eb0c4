/// The meaning of a model's names under the models that the store had before.
///
/// If the store has had this very model, its names mean the numbers of then, whatever a later model called them. In any
/// other model, a name or renaming identifier that nothing in the newest model continues means what it meant in the
/// last model that had it.
struct FormerNumbers {
    typealias Key = EntityHierarchy.PropertyKey

    let previous: Schema?
    /// The models before `previous`, newest first.
    let earlier: [Schema]
    /// The newest of them that is the same as the model.
    let known: Schema?
    /// The entities that have objects, though the newest model does not have the entities.
    let filled: Set<EntityID>

    init(
        _ model: ManagedObjectModel, previous: Schema?, earlier: [Schema], filled: Set<EntityID>
    ) throws(StrataError) {
        self.previous = previous
        self.earlier = earlier
        self.filled = filled
        var known = earlier.first { $0.model.entities == model.entities }
        if known == nil {
            for schema in earlier where try schema.isSame(as: model) {
                known = schema
                break
            }
        }
        self.known = known
    }

    // MARK: Entities

    /// The models that had an entity under one of these names, the newest first.
    func models(withEntity names: [String]) -> (schema: Schema, name: String)? {
        for schema in earlier {
            for name in names where schema.assignment.entities[name] != nil { return (schema, name) }
        }
        return nil
    }

    /// Whether an entity left the store because the store went back to a model that it had had before.
    func wasHidden(_ entity: EntityID, after schema: Schema) throws(StrataError) -> Bool {
        let later = earlier.reversed().filter { $0.version > schema.version } + (previous.map { [$0] } ?? [])
        guard let without = later.first(where: { $0.entity(entity) == nil }) else { return false }
        for other in earlier where other.version < without.version {
            if try other.isSame(as: without.model) { return true }
        }
        return false
    }

    // MARK: Properties

    /// The number that has the values of a former number in the newest model; nil if none has, or several have.
    func heir(of number: PropertyID, after version: ModelVersion) -> PropertyID? {
        let last = last(of: number, after: version)
        return last.flatMap { previous?.property($0) == nil ? nil : $0 }
    }

    /// Whether a relationship went on without an inverse after a model in which it had one: then it has had the links since,
    /// and the inverse has none to return with.
    func wentOnAlone(_ number: PropertyID, after version: ModelVersion) -> Bool {
        guard let last = last(of: number, after: version) else { return false }
        let later = ((previous.map { [$0] } ?? []) + earlier).lazy.filter { $0.version > version }
        guard let relationship = later.compactMap({ $0.property(last)?.relationship }).first else { return false }
        return relationship.inverse == nil
    }

    /// Whether an attribute was converted to its type from one that a later description can read, with a possible loss.
    func restores(_ number: PropertyID, _ old: AttributeDescription, as new: AttributeDescription) -> Bool {
        guard old.type != new.type || old.elements != new.elements else { return false }
        let models = (previous.map { [$0] } ?? []) + earlier
        var (next, known): ([PropertyID], Set<PropertyID>) = ([number], [number])
        while let number = next.popLast() {
            let first = models.last { $0.property(number) != nil }
            for origin in first?.assignment.replaced[number] ?? [] where known.insert(origin).inserted {
                let forms = models.compactMap { $0.property(origin)?.attribute }
                if let last = forms.first, forms.contains(where: { $0.canBeRead(as: new) }), last.mayLose(as: old) {
                    return true
                }
                next.append(origin)
            }
        }
        return false
    }

    /// The last number that had the values of a former number in the objects of an entity.
    func last(of number: PropertyID, in entity: EntityID, after version: ModelVersion) -> PropertyID {
        let later = earlier.reversed() + (previous.map { [$0] } ?? [])
        return Schema.last(of: number, in: entity, through: later.filter { $0.version >= version })
    }

    /// The last number that had the values of a former number; nil if several took them over.
    func last(of number: PropertyID, after version: ModelVersion) -> PropertyID? {
        let later = earlier.reversed() + (previous.map { [$0] } ?? [])
        return Schema.last(of: number, through: later.filter { $0.version >= version })
    }
}

extension Schema {
    /// Whether a model differs from this one in nothing but metadata.
    package func isSame(as model: ManagedObjectModel) throws(StrataError) -> Bool {
        guard self.model.entities != model.entities else { return true }
        guard self.model.entities.count == model.entities.count else { return false }
        return try SchemaDifference(from: self, to: model).isMetadataOnly
    }

    /// The last number that has the values of a number in the objects of an entity, after some models, oldest first.
    ///
    /// - Parameter schemas: the first is one that had the number.
    package static func last(of number: PropertyID, in entity: EntityID, through schemas: [Schema]) -> PropertyID {
        var number = number
        var former: [EntitySchema] = []
        for (index, schema) in schemas.enumerated() {
            guard let after = schema.entity(entity) else { continue }
            defer { former.append(after) }
            guard let before = former.last, after.property(number) == nil else { continue }
            let heir = after.properties.first {
                before.property($0.id) == nil && schema.assignment.formers(of: $0.id, in: entity).contains(number)
            }
            number =
                heir?.id ?? schema.heir(of: number, in: before)?.id
                ?? after.heir(ofHidden: number, in: former, schemas[..<index], schema.assignment)?.id ?? number
        }
        return number
    }

    /// A property's number and numbers that it takes over from, and all that these took over from in any entity, nearest
    /// first.
    ///
    /// - Parameter schemas: oldest first.
    package static func lineage(
        of own: PropertyID, _ formers: [PropertyID], through schemas: some BidirectionalCollection<Schema>
    ) -> [PropertyID] {
        var lineage: [PropertyID] = []
        var next = [own] + formers
        while !next.isEmpty {
            let number = next.removeFirst()
            guard !lineage.contains(number) else { continue }
            lineage.append(number)
            for schema in schemas.reversed() { next += schema.assignment.replaced[number] ?? [] }
        }
        return lineage
    }

    /// The last number that has the values of a number after some models, oldest first; nil if several took them over.
    package static func last(of number: PropertyID, through schemas: [Schema]) -> PropertyID? {
        var number = number
        var before: Schema?
        for schema in schemas {
            defer { before = schema }
            guard schema.property(number) == nil else { continue }
            var heirs = schema.assignment.replaced.keys.filter {
                schema.assignment.replaced[$0]?.contains(number) ?? false
            }
            // A number that the model before had has the values in the objects of some entities only.
            if heirs.count > 1, let before { heirs.removeAll { before.property($0) != nil } }
            guard heirs.count <= 1 else { return nil }
            if let heir = heirs.first { number = heir }
        }
        return number
    }

    /// The entities that an earlier model had and the one before this did not. Their objects are there again.
    package func returned(after old: Schema) -> [EntitySchema] {
        entities.filter { old.entity($0.id) == nil && old.assignment.wasGiven($0.id) }
    }
}

extension EntitySchema {
    /// The property that takes back the values of a number that the models just before hid in the objects of the entity:
    /// other entities had them meanwhile, under numbers that the property continues.
    ///
    /// - Parameters:
    ///   - former: the entity in the models that had it, oldest first.
    ///   - schemas: the models before that of this entity, oldest first.
    fileprivate func heir(
        ofHidden number: PropertyID, in former: [EntitySchema], _ schemas: ArraySlice<Schema>,
        _ assignment: ModelAssignment
    ) -> PropertySchema? {
        guard let before = former.last else { return nil }
        return properties.first { property in
            let formers = assignment.formers(of: property.id, in: id)
            guard before.property(property.id) == nil, !formers.isEmpty,
                assignment.ownFormers[id]?[property.id] == nil
            else { return false }
            let lineage = Schema.lineage(of: property.id, formers, through: schemas)
            let last = former.reversed().lazy.compactMap { entity in lineage.first { entity.property($0) != nil } }
                .first
            return last == number
        }
    }
}

extension ModelAssignment {
    /// Whether an entity of this or an earlier model had the number.
    package func wasGiven(_ entity: EntityID) -> Bool { entity.rawValue < nextEntity }
}
