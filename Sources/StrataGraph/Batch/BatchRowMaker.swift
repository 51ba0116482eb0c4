// Makes the rows of batch requests from values by name (`BatchRowMaker`).

import Foundation
import StrataModel
import StrataStore

/// Keeps the files of large values from being removed until the step that wrote them is saved.
final class BatchLease {
    var lease: BlobLease?
}

/// Makes the rows of new and changed objects from values by name, and checks them against the model. Used by one thread.
final class BatchRowMaker {
    /// A row that is complete except for its positions in ordered relationships.
    struct Prepared {
        var builder: RowBuilder
        var givenSlots = SlotSet()
        var failures: [ChangeSet.Insertion.SlotFailure] = []
        /// To-ones whose inverse is ordered: their slot and that of the position, the link, and the owner.
        var positions: [(toOne: Int, slot: Int, link: PropertyID, owner: ObjectID)] = []
        /// Values that are to be encrypted when it is known of which object they are.
        var secrets: [(property: PropertyRuntime, value: AttributeValue)] = []
        /// Subjects under whose keys such values stay, by the slots of the attributes.
        var keptSubjects: [Int: SubjectID] = [:]
        /// Relationships that change other objects too.
        var links: [BatchLinks.GivenLink] = []
    }

    let binding: StoreBinding
    let entity: EntityRuntime
    private let lease: BatchLease
    /// The errors of a row that lacks a required value.
    private let failuresOfDefaults: [ChangeSet.Insertion.SlotFailure]
    /// To-ones that lead to objects of the same hierarchy. Rows of the same step may give the members of the inverse.
    private let ownSlots: SlotSet
    /// The properties of the row before, in the order of its values.
    private var usualProperties: [PropertyRuntime] = []

    init(_ binding: StoreBinding, _ entity: EntityRuntime, _ lease: BatchLease = BatchLease()) {
        self.binding = binding
        self.entity = entity
        self.lease = lease
        let root = binding.schema.root(of: entity.id)
        ownSlots = SlotSet(
            entity.toOneIndexes.map { entity.properties[$0] }
                .filter { $0.destination.map { binding.schema.root(of: $0) == root } ?? false }.map(\.slot))
        failuresOfDefaults = entity.checks.flatMap { check in
            check.property.failures(
                of: check.property.attribute?.defaultValue ?? .null, entityName: entity.name
            ).map { .init(slot: check.property.slot, error: $0) }
        }
    }

    /// The row of a new object.
    func insertion(of values: BatchValues) throws -> Prepared {
        var row = Prepared(builder: try RowBuilder(entity.template, layout: entity.layout))
        var position = 0
        var elements: [(element: NamedElement, value: AttributeValue)] = []
        for entry in values.entries {
            if let property = property(named: entry.name, from: &position) {
                try set(property, entry.value, in: &row)
            } else if let element = try entity.compositeElement(at: entry.name) {
                elements.append((element, entry.value))
            } else {
                throw unknown(entry.name)
            }
        }
        try setElements(elements, in: &row) { $0.attribute?.defaultValue ?? .null }
        for (name, members) in values.members.sorted(by: { $0.key < $1.key }) {
            try setMembers(name, members, in: &row)
        }
        for failure in failuresOfDefaults where !row.givenSlots.contains(failure.slot) { row.failures.append(failure) }
        return row
    }

    /// The property with a name. Rows mostly have the names of the row before in the same order, or lack some.
    ///
    /// - Parameter position: where the name is looked for in `usualProperties`; becomes the position after it.
    private func property(named name: String, from position: inout Int) -> PropertyRuntime? {
        let end = min(position + Self.mostSkipped, usualProperties.count)
        for index in position..<end where usualProperties[index].name == name {
            position = index + 1
            return usualProperties[index]
        }
        guard let property = entity.property(named: name) else { return nil }
        usualProperties.removeSubrange(position...)
        usualProperties.append(property)
        position += 1
        return property
    }

    /// The number of names in a row that are tried before the entity is asked.
    private static let mostSkipped = 4

    /// Gives a property of the row a value.
    func set(_ name: String, _ value: AttributeValue, in row: inout Prepared) throws {
        guard let property = entity.property(named: name) else { throw unknown(name) }
        try set(property, value, in: &row)
    }

    /// Gives elements of composites values.
    ///
    /// - Parameter present: what a composite holds beside them.
    /// - Throws: `invalidRequest` where the row gives the composite as a whole too.
    func setElements(
        _ elements: [(element: NamedElement, value: AttributeValue)], in row: inout Prepared,
        _ present: (PropertyRuntime) throws -> AttributeValue
    ) throws {
        if elements.isEmpty { return }
        var composites: [Int: AttributeValue] = [:]
        for (element, value) in elements {
            let property = element.attribute
            if row.givenSlots.contains(property.slot) {
                throw refusal(property, "is given as a whole, so none of its elements can be given too.")
            }
            let composite = try composites[property.slot] ?? present(property)
            composites[property.slot] = composite.replacing(element.path, with: value)
        }
        for (slot, composite) in composites.sorted(by: { $0.key < $1.key }) {
            try set(entity.property(slot: slot), composite, in: &row)
        }
    }

    /// The value of a composite in a row.
    ///
    /// - Throws: `invalidRequest` for an encrypted one.
    func composite(_ property: PropertyRuntime, in image: RowImage) throws -> AttributeValue {
        if property.cipher != nil { throw refusal(property, "is encrypted, so it can only be set as a whole.") }
        return try image.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).value(property.slot) }
    }

    private func set(_ property: PropertyRuntime, _ value: AttributeValue, in row: inout Prepared) throws {
        let fit = try self.value(value, fitFor: property)
        for error in property.failures(of: fit, entityName: entity.name) {
            row.failures.append(.init(slot: property.slot, error: error))
        }
        row.givenSlots.insert(property.slot)
        if property.cipher != nil, !fit.isNull, fit.isRead { return row.secrets.append((property, fit)) }
        do {
            try row.builder.set(property.slot, try stored(fit, property))
        } catch let error as UnstorableValue {
            throw StrataError(
                .wrongType, "\(property.name) cannot hold the value.", context: errorContext(property.name, value),
                cause: error)
        }
        if case .toMany(let link, let positionSlot?) = property.inverse, case .objectID(let owner) = fit {
            row.positions.append((property.slot, positionSlot, link, owner))
        }
        guard property.isToOne else { return }
        var target: ObjectID?
        if case .objectID(let id) = fit { target = id }
        switch property.inverse {
        case .toOne: row.links.append(.partner(property, target))
        case .toMany where ownSlots.contains(property.slot): row.links.append(.owner(property, target))
        case .toMany, .none: break
        }
    }

    /// Encrypts the values of a row that is complete.
    ///
    /// - Throws: `encryptionKeyMissing`.
    func encrypt(_ row: inout Prepared, of id: ObjectID) throws {
        for (property, value) in row.secrets {
            guard let cipher = property.cipher else { continue }
            if let subject = row.keptSubjects[property.slot] {
                let sealed = AttributeValue.encrypted(try cipher.seal(value, of: id, under: subject))
                try row.builder.set(property.slot, try stored(sealed, property))
                continue
            }
            let encrypted = try cipher.encrypt(value, of: id)
            // Under the key of its subject it comes when the row is complete.
            let value =
                try cipher.hasSubject ? .encrypted(encrypted) : stored(.encrypted(encrypted), property)
            try row.builder.set(property.slot, value)
        }
        row.secrets = []
    }

    /// The target that is given for a to-one.
    func owner(in image: RowImage, _ toOne: Int) throws -> ObjectID {
        try image.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).reference(toOne) }
    }

    /// Sets the members of a to-many.
    func setMembers(_ name: String, _ members: [ObjectID], in row: inout Prepared) throws {
        guard let property = entity.property(named: name) else { throw unknown(name) }
        guard property.isToMany, !property.isTransient else {
            throw StrataError(
                .wrongType, "\(name) is no to-many and cannot hold a list of objects.", context: errorContext(name))
        }
        for member in members { _ = try target(.objectID(member), of: property) }
        row.links.append(.members(property, members))
    }

    // MARK: Values

    private func value(_ value: AttributeValue, fitFor property: PropertyRuntime) throws -> AttributeValue {
        if property.isDerived { throw property.derivedRefusal(errorContext(property.name)) }
        if property.isTransient { throw refusal(property, "is transient; there is no object to hold it.") }
        if property.isToMany { throw refusal(property, "is a to-many and takes a list of ids of objects.") }
        if property.isToOne { return try target(value, of: property) }
        guard let type = property.attributeType else { throw unknown(property.name) }
        if type == .transformable, let plain = value.plain, !(plain is Data) {
            return .data(try property.transformed(plain, errorContext(property.name, value)))
        }
        guard let fit = value.coerced(to: type) else {
            throw StrataError(
                .wrongType, "\(property.name) cannot be \(value.kindName).", context: errorContext(property.name, value)
            )
        }
        // Copying a description costs a dozen retains.
        guard type == .composite, let attribute = property.attribute else { return fit }
        return try fit.withFittingElements(of: attribute, errorContext(property.name))
    }

    private func target(_ value: AttributeValue, of property: PropertyRuntime) throws -> AttributeValue {
        switch value {
        case .null: return value
        case .objectID(let id):
            let destination = property.destination.flatMap(binding.schema.entity)
            guard let destination, destination.entityIDs.contains(id.entityID) else {
                throw StrataError(
                    .wrongType, "\(property.name) leads to \(destination?.name ?? "nothing").",
                    context: errorContext(property.name, value))
            }
            return value
        default:
            throw StrataError(
                .wrongType, "\(property.name) takes the id of an object.", context: errorContext(property.name, value))
        }
    }

    /// The value as the row holds it: large values are written to files.
    private func stored(_ value: AttributeValue, _ property: PropertyRuntime) throws -> AttributeValue {
        let data: Data
        switch value {
        case .data(let plain): data = plain
        case .encrypted(let encrypted): data = encrypted.stored
        default: return value
        }
        guard property.kind.isExternal, data.count >= binding.externalStorageThreshold else { return value }
        return .blob(try write(data))
    }

    /// Writes the file of a large value.
    private func write(_ data: Data) throws -> BlobReference {
        if lease.lease == nil { lease.lease = try binding.store.beginBlobLease() }
        return try binding.store.stageBlob(data)
    }

    /// The files of large values.
    var files: LargeValueFiles {
        LargeValueFiles(
            threshold: binding.externalStorageThreshold, read: { [binding] in try binding.store.blob($0) },
            write: { [self] in try write($0) })
    }

    // MARK: Errors

    func unknown(_ name: String) -> StrataError {
        entity.schema.unknownKey(name, errorContext(name))
    }

    private func refusal(_ property: PropertyRuntime, _ sentence: String) -> StrataError {
        StrataError(.invalidRequest, "\(property.name) \(sentence)", context: errorContext(property.name))
    }

    private func errorContext(_ key: String, _ value: AttributeValue? = nil) -> StrataError.Context {
        StrataError.Context(entityName: entity.name, key: key, value: value)
    }
}

/// Gives the members that one step adds positions at the end of ordered relationships.
struct BatchPositions {
    private struct ListKey: Hashable {
        let id: ObjectID
        let link: PropertyID
    }

    private let snapshot: Snapshot
    private var last: [ListKey: Int64] = [:]

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// All members of an owner have been set, with the first positions.
    mutating func note(_ link: PropertyID, _ owner: ObjectID, count: Int) {
        last[ListKey(id: owner, link: link)] = (Int64(count) - 1) * MemberPositions.gap
    }

    mutating func next(_ link: PropertyID, _ owner: ObjectID) throws -> Int64 {
        let key = ListKey(id: owner, link: link)
        let before = try last[key] ?? snapshot.lastPosition(of: link, owner: owner)
        let position = before.map(MemberPositions.after) ?? 0
        last[key] = position
        return position
    }
}

extension AttributeValue {
    /// Whether this is a value and not one that is encrypted already.
    fileprivate var isRead: Bool { if case .encrypted = self { false } else { true } }
}
