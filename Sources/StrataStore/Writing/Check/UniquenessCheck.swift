import LMDB
import StrataModel

/// Checks the uniqueness constraints of one save on its net result at the head.
///
/// Removals count before additions, so objects may swap values. Keys with a nil in them conflict with nothing.
package struct UniquenessCheck {
    private struct Claim {
        let id: ObjectID
        let index: IndexSchema
        let image: RowImage
    }

    private let schema: Schema
    private let snapshot: Snapshot
    let hasConstraints: Bool
    /// The objects of the save that claim a key.
    private var claims: [UniqueKey: [Claim]] = [:]

    init(schema: Schema, snapshot: Snapshot) {
        self.schema = schema
        self.snapshot = snapshot
        hasConstraints = schema.indexes.contains { $0.isUnique }
    }

    /// Notes the keys that an inserted (`changedSlots` nil) or updated object will have.
    mutating func claim(_ id: ObjectID, _ image: RowImage, changedSlots: SlotSet?) throws {
        guard hasConstraints, let entity = schema.entity(id.entityID) else { return }
        for index in entity.indexes where index.isUnique {
            if let changedSlots, !index.elements.contains(where: { changedSlots.contains($0.slot) }) { continue }
            guard let key = try key(index, entity, image.unsafeBytes, id) else { continue }
            claims[key, default: []].append(Claim(id: id, index: index, image: image))
        }
    }

    /// - Parameter newImage: the row that an updated object will have; nil if this save does not update the object.
    /// - Throws: `constraintMerge`; several of them are the details of one.
    mutating func settle(deletions: Set<ObjectID>, newImage: (ObjectID) -> RowImage?) throws {
        var clashes: [StrataError] = []
        for (key, claimants) in claims {
            guard let first = claimants.first else { continue }
            var holders = claimants
            for other in try holdersInStore(of: key, first.index) where !claimants.contains(where: { $0.id == other }) {
                if deletions.contains(other) { continue }
                if let image = newImage(other), let entity = schema.entity(other.entityID),
                    try self.key(first.index, entity, image.unsafeBytes, other) != key
                {
                    continue
                }
                holders.append(Claim(id: other, index: first.index, image: first.image))
            }
            if holders.count > 1 { clashes.append(try clash(holders)) }
        }
        guard let first = clashes.first else { return }
        if clashes.count == 1 { throw first }
        throw StrataError(
            .constraintMerge, "\(clashes.count) uniqueness constraints are violated.",
            details: clashes.sorted { ($0.context.objectID?.rawValue ?? 0) < ($1.context.objectID?.rawValue ?? 0) })
    }

    /// The keys that must be unique of an object with this row.
    func keys(of id: ObjectID, _ image: RowImage) throws -> [(index: IndexSchema, key: UniqueKey)] {
        guard hasConstraints, let entity = schema.entity(id.entityID) else { return [] }
        return try entity.indexes.filter(\.isUnique).compactMap { index in
            try key(index, entity, image.unsafeBytes, id).map { (index, $0) }
        }
    }

    /// - Parameter image: in the newest layout.
    private func key(
        _ index: IndexSchema, _ entity: EntitySchema, _ image: UnsafeRawBufferPointer, _ id: ObjectID
    ) throws -> UniqueKey? {
        // The index as the entity defines it has the entity's slots.
        guard let own = entity.indexes.first(where: { $0.id == index.id }) else { return nil }
        return try IndexKeys.uniqueKey(own, try RowReader(image, layout: entity.layout), id, schema)
    }

    /// The objects that have a key at the head, before this save.
    func holdersInStore(of unique: UniqueKey, _ index: IndexSchema) throws -> [ObjectID] {
        var holders: [ObjectID] = []
        let key = unique.key
        try key.withUnsafeBytes { key in
            try snapshot.tables.indexes.withCursor(snapshot.transaction) { cursor in
                var found = try cursor.seek(atOrAfter: key)
                while found, cursor.key.count == key.count + 8, cursor.key.starts(with: key) {
                    holders.append(StoreKey.lastObjectID(cursor.key))
                    found = try cursor.advance()
                }
            }
        }
        // Different values may have the same key if it was cut.
        return unique.cutValues.isEmpty ? holders : try holders.filter { try holds($0, unique, index) }
    }

    private func holds(_ id: ObjectID, _ unique: UniqueKey, _ index: IndexSchema) throws -> Bool {
        guard let entity = schema.entity(id.entityID), let row = try snapshot.row(id) else { return false }
        let image = try row.converted(to: entity)
        return try withExtendedLifetime(image) { try key(index, entity, image.unsafeBytes, id) } == unique
    }

    /// - Parameter others: the objects that have the same values, or claim them too.
    package static func sentence(_ names: String, _ others: [String]) -> String {
        let verb = others.count == 1 ? "has" : "have"
        return "\(names) must be unique, and \(others.joined(separator: ", ")) \(verb) the same."
    }

    private func clash(_ holders: [Claim]) throws -> StrataError {
        let first = holders[0]
        let entity = schema.entity(first.id.entityID)
        let names = first.index.elements.map { element in
            ([entity?.property(element.propertyID)?.name ?? ""] + element.compositePath).joined(separator: ".")
        }
        var values: [String: AttributeValue] = [:]
        if let entity {
            let reader = try RowReader(first.image.unsafeBytes, layout: entity.layout)
            for (name, element) in zip(names, first.index.elements) {
                if let slot = entity.slot(of: element.propertyID) { values[name] = try reader.value(slot) }
            }
        }
        return StrataError(
            .constraintMerge,
            Self.sentence(
                names.joined(separator: ", "), holders.dropFirst().map { schema.name(of: $0.id) }),
            context: .init(
                entityName: entity?.name, objectID: first.id, key: names.joined(separator: ","),
                value: names.count == 1 ? values[names[0]] : nil, objectValues: values,
                conflictingObjectIDs: holders.dropFirst().map(\.id)))
    }
}
