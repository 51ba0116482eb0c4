import LMDB
import StrataModel

/// The last values of a property that the store's newest model no longer has.
///
/// Rows that were not changed since still hold them; those of other objects are found along the chains of their events.
struct PastValues: Sendable {
    let property: PropertyID
    /// The attribute as the newest model that had it described it; nil for a relationship or position.
    let attribute: AttributeDescription?
    /// The newest model that had the property.
    let version: ModelVersion
    /// The value in rows that are older than the property.
    let bornDefault: AttributeValue

    private init(
        property: PropertyID, attribute: AttributeDescription?, version: ModelVersion, bornDefault: AttributeValue
    ) {
        self.property = property
        self.attribute = attribute
        self.version = version
        self.bornDefault = bornDefault
    }

    /// The values of a position under a model.
    init(position: PropertyID, in schema: Schema) {
        self.init(property: position, attribute: nil, version: schema.version, bornDefault: .null)
    }

    /// The last value of an object; nil if the object was made since.
    func value(of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot) throws -> AttributeValue? {
        if let held = try value(in: row.layout, row.reader) { return held }
        var last: AttributeValue?
        let reader = LogReader(snapshot.transaction, snapshot.tables, snapshot.histories)
        try reader.chain(from: row.revision, of: id) { event, _ in
            switch event.header.kind {
            case .updated:
                guard let change = try event.changes().first(where: { $0.property == property }) else { return true }
                if case .value(let value) = change.after { last = value }
            case .inserted:
                let layout = try snapshot.histories.layout(of: event.payload, id: id)
                last = try value(in: layout, RowReader(event.payload, layout: layout))
            default: break
            }
            return false
        }
        return last
    }

    /// Nil if the row was written under a later model.
    private func value(in layout: RowLayout, _ reader: RowReader) throws -> AttributeValue? {
        if let slot = layout.slots.firstIndex(where: { $0.propertyID == property }) { return try reader.value(slot) }
        return layout.version <= version ? bornDefault : nil
    }

    /// Whether an entity had a number in models up to one, and another number took over its values: then the objects do not
    /// get these values again with the number.
    ///
    /// - Throws: `corrupt` if the record of one of these models cannot be decoded.
    static func wentOn(
        _ number: PropertyID, of entity: EntityID, upTo version: ModelVersion, _ histories: SchemaHistory
    ) throws -> Bool {
        let models = try histories.schemas(histories.versions.filter { $0 <= version })
        guard let last = models.lastIndex(where: { $0.entity(entity)?.property(number) != nil }) else { return false }
        return Schema.last(of: number, in: entity, through: Array(models[last...])) != number
    }

    /// Whether another property than `own` has the values of a number in the objects of an entity: it keeps the number in
    /// the new model, or took over from it in that model or one before.
    private static func isClaimed(
        _ number: PropertyID, by own: PropertyID, _ formers: [PropertyID], of entity: EntityID, _ models: [Schema],
        in new: Schema
    ) -> Bool {
        if number != own, new.entity(entity)?.property(number) != nil { return true }
        // What the assignment says, it has compared with the other properties.
        if formers.contains(number) { return false }
        guard let last = models.lastIndex(where: { $0.entity(entity)?.property(number) != nil }) else { return false }
        let since = Array(models[last...])
        if Schema.last(of: number, in: entity, through: since) != number { return true }
        return ![number, own].contains(Schema.last(of: number, in: entity, through: since + [new]))
    }

    /// The attribute that an entity had last, in models before one, among the numbers that a property takes over from; nil
    /// if it had none.
    ///
    /// - Parameter own: the number of the property, if the entity may have had it before, or any number that it took over
    ///   from in other entities. Objects do not get values again that another number of their own took over.
    /// - Parameter new: the model that has the property. Objects have a value once: nil if another property keeps it there.
    /// - Throws: `corrupt` if the record of one of these models cannot be decoded.
    init?(
        _ formers: [PropertyID], own: PropertyID? = nil, of entity: EntityID, before version: ModelVersion,
        in new: Schema, _ histories: SchemaHistory
    ) throws {
        let models = try histories.schemas(histories.versions.filter { $0 < version })
        let later = try histories.schemas(histories.versions.filter { $0 <= version })
        let numbers = own.map { Schema.lineage(of: $0, formers, through: later) } ?? formers
        let known = numbers.filter { number in models.last.map { number.rawValue < $0.assignment.nextProperty } ?? false
        }
        guard !known.isEmpty else { return nil }
        for schema in models.reversed() {
            guard let before = schema.entity(entity),
                let property = known.lazy.compactMap({ before.property($0) }).first(where: { $0.storage != nil }),
                let attribute = property.attribute
            else { continue }
            if let own, Self.isClaimed(property.id, by: own, formers, of: entity, later, in: new) { return nil }
            self.init(
                property: property.id, attribute: attribute, version: schema.version,
                bornDefault: schema.assignment.bornDefaults[property.id] ?? .null)
            return
        }
        return nil
    }

    /// The relationship that an entity had last, in models before one, among the numbers that a property takes over from;
    /// nil if it had none.
    ///
    /// - Parameter own: the number of the property, as for attributes.
    /// - Throws: `corrupt` if the record of one of these models cannot be decoded.
    static func last(
        _ formers: [PropertyID], own: PropertyID, of entity: EntityID, before version: ModelVersion,
        in new: Schema, _ histories: SchemaHistory
    ) throws -> (property: PropertySchema, values: PastValues)? {
        let models = try histories.schemas(histories.versions.filter { $0 < version })
        let later = try histories.schemas(histories.versions.filter { $0 <= version })
        let numbers = Schema.lineage(of: own, formers, through: later)
        for schema in models.reversed() {
            guard let before = schema.entity(entity),
                let property = numbers.lazy.compactMap({ before.property($0) }).first,
                property.relationship?.description.isTransient == false
            else { continue }
            if isClaimed(property.id, by: own, formers, of: entity, later, in: new) { return nil }
            return (
                property,
                PastValues(property: property.id, attribute: nil, version: schema.version, bornDefault: .null)
            )
        }
        return nil
    }

    /// The positions that objects of an entity had by a to-one that stays, when the to-many at its other end was ordered
    /// last; nil if it is ordered under the old model too, or never was.
    static func position(
        of toOne: PropertyID, _ position: PropertyID, _ old: EntitySchema, _ links: OldLinks, _ histories: SchemaHistory
    ) throws -> PastValues? {
        guard links.returned[old.id] == nil, let now = old.property(toOne)?.relationship, now.position == nil else {
            return nil
        }
        for schema in try histories.schemas(histories.versions.filter { $0 < links.old.version }).reversed() {
            guard let past = schema.entity(old.id)?.property(toOne)?.relationship?.position else { continue }
            return PastValues(property: past, attribute: nil, version: schema.version, bornDefault: .null)
        }
        return nil
    }

    /// The values of another property in the same model, which has no default.
    func of(_ property: PropertyID) -> PastValues {
        PastValues(property: property, attribute: nil, version: version, bornDefault: .null)
    }

    /// Finds the properties that a model takes back from models before `old`.
    ///
    /// - Throws: `corrupt` if the record of one of these models cannot be decoded.
    static func returning(
        from old: Schema, to new: Schema, _ histories: SchemaHistory
    ) throws -> [PropertyID: PastValues] {
        var missing = Set(new.assignment.replaced.values.joined()).filter { old.property($0) == nil }
        var found: [PropertyID: PastValues] = [:]
        let versions = histories.versions.filter { $0 < old.version }
        for schema in missing.isEmpty ? [] : try histories.schemas(versions).reversed() {
            for number in missing {
                guard let property = schema.property(number) else { continue }
                missing.remove(number)
                for id in [number] + (property.relationship?.position.map { [$0] } ?? []) {
                    found[id] = PastValues(
                        property: id, attribute: property.attribute, version: schema.version,
                        bornDefault: schema.assignment.bornDefaults[id] ?? .null)
                }
            }
        }
        return found
    }
}
