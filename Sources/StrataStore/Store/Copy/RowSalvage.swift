// Salvages rows and links that are newer than the sound part of a damaged store's log (`RowSalvage`).

import LMDB
import StrataModel

/// The rows and entries that were skipped in a damaged store's views.
package struct PassedOver: Sendable, Equatable {
    /// Damaged rows, deletions and pairs. Some may be old enough to be in the sound part of the log.
    package var records = 0
    /// To-ones and pairs that lead to lost objects.
    package var links = 0
    /// Records about which the views contradict each other, decided by the majority of them.
    package var contradictions = 0
    /// Tables that cannot be read to their end.
    package var tables: [String] = []

    package var isEmpty: Bool { self == PassedOver() }
}

/// Reads the records of a damaged store that are newer than the sound part of its log, one by one; skips and counts
/// damaged records. It reads the views (`readViews`), or the records found on the pages of a file that cannot be opened
/// (`readPages`).
///
/// Errors of the sound store, which the changes are for, are thrown.
final class RowSalvage {
    var changes = NetChanges()
    var passedOver = PassedOver()

    let histories: SchemaHistory
    let schema: Schema
    /// The new store ends here; newer changes are salvaged.
    let end: EventNumber
    /// The new store at its end.
    let snapshot: Snapshot
    /// Copies a large value; false if it is lost.
    private let bring: (BlobReference) throws -> Bool

    init(
        histories: SchemaHistory, schema: Schema, end: EventNumber, snapshot: Snapshot,
        bring: @escaping (BlobReference) throws -> Bool
    ) {
        self.bring = bring
        self.histories = histories
        self.schema = schema
        self.end = end
        self.snapshot = snapshot
    }

    /// The result of reading the damaged store; nil, and counted, if it is damaged.
    func salvaged<Value>(_ read: () throws -> Value?) -> Value? {
        do {
            if let value = try read() { return value }
        } catch {}
        passedOver.records += 1
        return nil
    }

    /// Whether the object will exist in the new store.
    func willExist(_ id: ObjectID) throws -> Bool {
        if let object = changes.objects[id] { return object.existsAfter }
        return try snapshot.exists(id)
    }

    // MARK: Records

    /// Takes the row image of an object from after the end.
    func add(_ id: ObjectID, _ image: UnsafeRawBufferPointer) throws {
        let entity = schema.entity(id.entityID)
        guard let values = salvaged({ try entity.flatMap { _ in try values(of: id, image) } }), let entity else {
            return
        }
        for case (_, .blob(let reference)) in values where try !bring(reference) {
            passedOver.records += 1
            return
        }
        let before = try snapshot.row(id)?.converted(to: entity)
        var object = NetChanges.Object(existedBefore: before != nil, existsAfter: true)
        for (property, value) in values {
            object.note(property.id, before: try Self.value(of: property, in: before, entity), after: value)
        }
        changes.objects[id] = object
    }

    /// Takes the new values of properties of an object that exists.
    func add(_ id: ObjectID, _ new: [PropertyChange]) throws {
        guard let entity = schema.entity(id.entityID) else { return passedOver.records += 1 }
        let before = try snapshot.row(id)?.converted(to: entity)
        var object = changes.objects[id] ?? NetChanges.Object(existedBefore: before != nil, existsAfter: before != nil)
        guard object.existsAfter else { return passedOver.records += 1 }
        for change in new {
            guard let property = entity.properties.first(where: { $0.id == change.property && $0.storage != nil }),
                case .value(let value) = change.after
            else { continue }
            if case .blob(let reference) = value, try !bring(reference) {
                passedOver.records += 1
                continue
            }
            object.note(property.id, before: try Self.value(of: property, in: before, entity), after: value)
        }
        changes.objects[id] = object
    }

    /// Takes the deletion of an object.
    func addDeletion(of id: ObjectID) throws {
        let existed = try snapshot.exists(id)
        changes.objects[id] = existed ? NetChanges.Object(existedBefore: true, existsAfter: false) : nil
    }

    /// Takes a pair as it is after the end; nil if it is not linked.
    func add(_ pair: PairKey, _ positions: PairPositions?) throws {
        changes.pairs[pair] = .init(before: try snapshot.pair(pair), after: positions)
    }

    private static func value(
        of property: PropertySchema, in row: RowImage?, _ entity: EntitySchema
    ) throws -> AttributeValue {
        let old = try row?.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).value(property.slot) }
        return old ?? .null
    }

    private func values(
        of id: ObjectID, _ image: UnsafeRawBufferPointer
    ) throws -> [(PropertySchema, AttributeValue)]? {
        guard let entity = histories.newest?.entity(id.entityID) else { return nil }
        let layout = try histories.layout(of: image, id: id)
        try RowReader(image, layout: layout).validate()
        let now = try histories.converted(image, from: layout, to: entity)
        return try entity.properties.filter { $0.storage != nil }.map { property in
            (property, try now.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).value(property.slot) })
        }
    }

    // MARK: At the end

    /// Removes links to lost objects, which would keep rows and pairs from being saved.
    func cutDanglingLinks() throws {
        for id in Array(changes.objects.keys) { try cutDanglingTargets(of: id) }
        for (pair, places) in changes.pairs where places.after != nil {
            guard try !willExist(pair.source) || !willExist(pair.target) else { continue }
            changes.pairs[pair] = nil
            passedOver.links += 1
        }
        changes.pairs = changes.pairs.filter { $0.value.before != $0.value.after }
    }

    private func cutDanglingTargets(of id: ObjectID) throws {
        guard let entity = schema.entity(id.entityID), let object = changes.objects[id], object.existsAfter else {
            return
        }
        for (property, values) in object.values {
            guard case .objectID(let target) = values.after,
                entity.properties.first(where: { $0.id == property })?.relationship != nil,
                try !willExist(target)
            else { continue }
            changes.objects[id]?.values[property] = .init(before: values.before, after: .null)
            passedOver.links += 1
        }
    }
}
