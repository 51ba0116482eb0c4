import Foundation
import StrataGraph

// What `@Entity` makes of two classes that differ in encryption.

/// Six attributes in the clear.
final class PlainRecord: ManagedObject {
    var name: String {
        get { _get(PlainRecord._propertyBase_PlainRecord + 0) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 0, newValue) }
    }
    var number: String {
        get { _get(PlainRecord._propertyBase_PlainRecord + 1) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 1, newValue) }
    }
    var diagnosis: String {
        get { _get(PlainRecord._propertyBase_PlainRecord + 2) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 2, newValue) }
    }
    var ward: String {
        get { _get(PlainRecord._propertyBase_PlainRecord + 3) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 3, newValue) }
    }
    var weight: Double {
        get { _get(PlainRecord._propertyBase_PlainRecord + 4) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 4, newValue) }
    }
    var visits: Int {
        get { _get(PlainRecord._propertyBase_PlainRecord + 5) }
        set { _set(PlainRecord._propertyBase_PlainRecord + 5, newValue) }
    }

    nonisolated static var _propertyBase_PlainRecord: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_PlainRecord: Int { _propertyBase_PlainRecord + 6 }
    nonisolated override class var entityName: String { "PlainRecord" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(PlainRecord.self, superclass: ManagedObject.self) { PlainRecord._describe_PlainRecord(&$0) }
    }
    nonisolated static func _describe_PlainRecord<Leaf: PlainRecord>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.property(\Leaf.number, "number", .indexed)
        entity.property(\Leaf.diagnosis, "diagnosis")
        entity.property(\Leaf.ward, "ward", .indexed)
        entity.property(\Leaf.weight, "weight", default: 0)
        entity.property(\Leaf.visits, "visits", default: 0)
    }
}
extension PlainRecord: ManagedEntity {}

/// The same, two of them encrypted.
final class SecretRecord: ManagedObject {
    var name: String {
        get { _get(SecretRecord._propertyBase_SecretRecord + 0) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 0, newValue) }
    }
    var number: String {
        get { _get(SecretRecord._propertyBase_SecretRecord + 1) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 1, newValue) }
    }
    var diagnosis: String {
        get { _get(SecretRecord._propertyBase_SecretRecord + 2) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 2, newValue) }
    }
    var ward: String {
        get { _get(SecretRecord._propertyBase_SecretRecord + 3) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 3, newValue) }
    }
    var weight: Double {
        get { _get(SecretRecord._propertyBase_SecretRecord + 4) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 4, newValue) }
    }
    var visits: Int {
        get { _get(SecretRecord._propertyBase_SecretRecord + 5) }
        set { _set(SecretRecord._propertyBase_SecretRecord + 5, newValue) }
    }

    nonisolated static var _propertyBase_SecretRecord: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_SecretRecord: Int { _propertyBase_SecretRecord + 6 }
    nonisolated override class var entityName: String { "SecretRecord" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(SecretRecord.self, superclass: ManagedObject.self) { SecretRecord._describe_SecretRecord(&$0) }
    }
    nonisolated static func _describe_SecretRecord<Leaf: SecretRecord>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.property(\Leaf.number, "number", .encrypted, .indexed)
        entity.property(\Leaf.diagnosis, "diagnosis", .encrypted)
        entity.property(\Leaf.ward, "ward", .indexed)
        entity.property(\Leaf.weight, "weight", default: 0)
        entity.property(\Leaf.visits, "visits", default: 0)
    }
}
extension SecretRecord: ManagedEntity {}
