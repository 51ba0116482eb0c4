import Foundation
import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// A part of OO1.
final class CatalogPart: ManagedObject {
    var id: Int32 {
        get { _get(CatalogPart._propertyBase_CatalogPart + 0) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 0, newValue) }
    }
    var type: String {
        get { _get(CatalogPart._propertyBase_CatalogPart + 1) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 1, newValue) }
    }
    var x: Int32 {
        get { _get(CatalogPart._propertyBase_CatalogPart + 2) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 2, newValue) }
    }
    var y: Int32 {
        get { _get(CatalogPart._propertyBase_CatalogPart + 3) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 3, newValue) }
    }
    var build: Date {
        get { _get(CatalogPart._propertyBase_CatalogPart + 4) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 4, newValue) }
    }
    var to: ToMany<CatalogConnection> {
        get { _get(CatalogPart._propertyBase_CatalogPart + 5) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 5, newValue) }
    }
    var from: ToMany<CatalogConnection> {
        get { _get(CatalogPart._propertyBase_CatalogPart + 6) }
        set { _set(CatalogPart._propertyBase_CatalogPart + 6, newValue) }
    }

    nonisolated static var _propertyBase_CatalogPart: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_CatalogPart: Int { _propertyBase_CatalogPart + 7 }
    nonisolated override class var entityName: String { "CatalogPart" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(CatalogPart.self, superclass: ManagedObject.self, .unique("id")) {
            CatalogPart._describe_CatalogPart(&$0)
        }
    }
    nonisolated static func _describe_CatalogPart<Leaf: CatalogPart>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.id, "id", default: 0, .indexed)
        entity.property(\Leaf.type, "type", default: "")
        entity.property(\Leaf.x, "x", default: 0)
        entity.property(\Leaf.y, "y", default: 0)
        entity.property(\Leaf.build, "build")
        entity.relationship(\Leaf.to, "to", deleteRule: .cascade, inverse: \CatalogConnection.from)
        entity.relationship(\Leaf.from, "from", deleteRule: .cascade, inverse: \CatalogConnection.to)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - CatalogPart._propertyBase_CatalogPart {
        case 0: visitor.visit(self, \CatalogPart.id)
        case 1: visitor.visit(self, \CatalogPart.type)
        case 2: visitor.visit(self, \CatalogPart.x)
        case 3: visitor.visit(self, \CatalogPart.y)
        case 4: visitor.visit(self, \CatalogPart.build)
        case 5: visitor.visit(self, \CatalogPart.to)
        case 6: visitor.visit(self, \CatalogPart.from)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension CatalogPart: ManagedEntity {}

/// A directed connection of OO1, with attributes of its own.
final class CatalogConnection: ManagedObject {
    var type: String {
        get { _get(CatalogConnection._propertyBase_CatalogConnection + 0) }
        set { _set(CatalogConnection._propertyBase_CatalogConnection + 0, newValue) }
    }
    var length: Int32 {
        get { _get(CatalogConnection._propertyBase_CatalogConnection + 1) }
        set { _set(CatalogConnection._propertyBase_CatalogConnection + 1, newValue) }
    }
    var from: CatalogPart? {
        get { _get(CatalogConnection._propertyBase_CatalogConnection + 2) }
        set { _set(CatalogConnection._propertyBase_CatalogConnection + 2, newValue) }
    }
    var to: CatalogPart? {
        get { _get(CatalogConnection._propertyBase_CatalogConnection + 3) }
        set { _set(CatalogConnection._propertyBase_CatalogConnection + 3, newValue) }
    }

    nonisolated static var _propertyBase_CatalogConnection: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_CatalogConnection: Int { _propertyBase_CatalogConnection + 4 }
    nonisolated override class var entityName: String { "CatalogConnection" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(CatalogConnection.self, superclass: ManagedObject.self) {
            CatalogConnection._describe_CatalogConnection(&$0)
        }
    }
    nonisolated static func _describe_CatalogConnection<Leaf: CatalogConnection>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.type, "type", default: "")
        entity.property(\Leaf.length, "length", default: 0)
        entity.relationship(\Leaf.from, "from", inverse: \CatalogPart.to)
        entity.relationship(\Leaf.to, "to", inverse: \CatalogPart.from)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - CatalogConnection._propertyBase_CatalogConnection {
        case 0: visitor.visit(self, \CatalogConnection.type)
        case 1: visitor.visit(self, \CatalogConnection.length)
        case 2: visitor.visit(self, \CatalogConnection.from)
        case 3: visitor.visit(self, \CatalogConnection.to)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension CatalogConnection: ManagedEntity {}
