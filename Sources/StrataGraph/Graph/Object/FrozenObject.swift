import Foundation
public import StrataModel
import StrataStore

/// A copy of an object as it was at one moment: it can be read anywhere, and never changes.
///
/// Attributes are read like those of the object itself, and so are properties that its class computes of them. A to-one
/// is the id that it leads to; members of a to-many are read from the store when they are asked for, as they were then.
///
/// ```swift
/// let movie = try object.frozen()
/// Task.detached { print(movie.title, movie.familyMember) }
/// ```
@dynamicMemberLookup
public struct FrozenObject<Object: ManagedObject>: Sendable {
    /// The id of the object that was frozen.
    public let objectID: ObjectID
    private let binding: StoreBinding
    private let entity: EntityRuntime
    private let image: RowImage
    private let state: StoreState

    init(_ object: Object, in context: ManagedObjectContext) throws {
        objectID = object.objectID
        binding = context.binding
        entity = object._entity
        image = try object.imageToFreeze()
        state = try context.state(includesPendingChanges: true)
    }

    /// The moment of the store that it shows; what its context had not saved is shown too.
    public var eventNumber: EventNumber { state.eventNumber }
    /// The entity of the object that was frozen.
    public var entityName: String { entity.name }

    // MARK: Values

    /// The value of an attribute, or of a property that the class computes.
    public subscript<Value: Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        withObject { $0[keyPath: keyPath] }
    }

    /// The id that a to-one leads to.
    public subscript<Target: ManagedObject>(dynamicMember keyPath: KeyPath<Object, Target?>) -> ObjectID? {
        target(PropertyName.of(keyPath))
    }

    /// The members of a to-many, in order.
    ///
    /// - Throws: what reading the store throws.
    public func objectIDs<Member: ManagedObject>(of keyPath: KeyPath<Object, ToMany<Member>>) throws -> [ObjectID] {
        try objectIDs(forKey: PropertyName.of(keyPath))
    }

    /// The value of an attribute by name, or the id that a to-one leads to.
    ///
    /// - Throws: `unknownKey`, also for a to-many.
    public func value(forKey key: String) throws -> AttributeValue {
        guard let property = entity.property(named: key), !property.isToMany else { throw unknownKey(key) }
        let value = try image.withReader(entity.layout) { row throws(CorruptRecord) in try row.value(property.slot) }
        return try property.cipher?.decryptKept(value, of: objectID) ?? value
    }

    /// The members of a to-many by name, in order.
    ///
    /// - Throws: `unknownKey`; what reading the store throws.
    public func objectIDs(forKey key: String) throws -> [ObjectID] {
        guard let property = entity.property(named: key), property.isToMany, !property.isTransient else {
            throw unknownKey(key)
        }
        return try binding.read(at: state.eventNumber, layers: state.layers) {
            try $0.members(of: property.id, owner: objectID)
        }
    }

    private func unknownKey(_ key: String) -> StrataError {
        entity.schema.unknownKey(key, .init(entityName: entity.name, objectID: objectID, key: key))
    }

    // MARK: Inside

    /// Runs `body` over a temporary object that is released afterwards.
    private func withObject<Result>(_ body: (Object) -> Result) -> Result {
        let object = entity.objectClass.init(
            _ObjectSeed(
                entity: entity, objectID: objectID, state: ObjectState.detached, context: nil, isInserted: false))
        image.bytes.withUnsafeBytes { object.adoptRow($0, revision: .zero) }
        guard let typed = ManagedObjectContext.cast(object, to: Object.self) else {
            preconditionFailure("The object was a \(Object.self) when it was frozen.")
        }
        return body(typed)
    }

    private func target(_ key: String) -> ObjectID? {
        guard let property = entity.property(named: key), property.isInRow else { return nil }
        let id = withObject { $0.reference(property.location) }
        return id.isNil ? nil : id
    }
}

extension FrozenObject: Hashable {
    /// Copies are equal when they are of one object and hold the same values.
    public static func == (left: FrozenObject, right: FrozenObject) -> Bool {
        left.objectID == right.objectID && left.image == right.image
    }

    /// Hashes the id and the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(objectID)
        hasher.combine(image)
    }
}

extension ManagedObjectContext {
    /// A copy of an object that can be sent anywhere; see `FrozenObject`.
    ///
    /// - Throws: `referentialIntegrity` when there is no such object; `missingBlob`, `corrupt`.
    public func frozen<Object: ManagedObject>(_ object: Object) throws -> FrozenObject<Object> {
        _ = try existingObject(with: object.objectID)
        return try FrozenObject(object, in: self)
    }
}

extension ManagedEntity {
    /// A copy of the object as it is now, unsaved changes counted, that can be sent anywhere.
    ///
    /// Values kept in files are read.
    ///
    /// - Throws: `deletedObject` for an object in no context; as `ManagedObjectContext.frozen(_:)`.
    public func frozen() throws -> FrozenObject<Self> {
        guard let context = managedObjectContext else {
            throw StrataError(.deletedObject, "The object is in no context.", context: errorContext())
        }
        return try context.frozen(self)
    }
}

extension ManagedObject {
    /// The row, with what is kept in files in it.
    fileprivate final func imageToFreeze() throws -> RowImage {
        let image = try canonicalImage()
        guard _entity.hasExternalStorage else { return image }
        var builder = try RowBuilder(image, layout: _entity.layout)
        for property in _entity.properties where property.kind.isExternal && !_isNull(property.location) {
            let bytes = try readExternalBytes(property.location)
            let isEncrypted = property.kind.isEncrypted
            try builder.set(property.slot, isEncrypted ? .encrypted(EncryptedValue(stored: bytes)) : .data(bytes))
        }
        return try builder.finish()
    }
}
