import StrataGraph
import StrataModel

/// Has derived attributes, with setters, which a class may have.
final class Counted: ManagedObject {
    var name: String {
        get { _get(Counted._propertyBase_Counted + 0) }
        set { _set(Counted._propertyBase_Counted + 0, newValue) }
    }
    var partCount: Int {
        get { _get(Counted._propertyBase_Counted + 1) }
        set { _set(Counted._propertyBase_Counted + 1, newValue) }
    }
    var loud: String? {
        get { _get(Counted._propertyBase_Counted + 2) }
        set { _set(Counted._propertyBase_Counted + 2, newValue) }
    }
    var parts: ToMany<CountedPart> {
        get { _get(Counted._propertyBase_Counted + 3) }
        set { _set(Counted._propertyBase_Counted + 3, newValue) }
    }

    nonisolated static var _propertyBase_Counted: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Counted: Int { _propertyBase_Counted + 4 }
    nonisolated override class var entityName: String { "Counted" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Counted.self, superclass: ManagedObject.self) { Counted._describe_Counted(&$0) }
    }
    nonisolated static func _describe_Counted<Leaf: Counted>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.property(\Leaf.partCount, "partCount", default: 0, .derived("parts.@count"), .indexed)
        entity.property(\Leaf.loud, "loud", .derived("uppercase:(name)"))
        entity.relationship(\Leaf.parts, "parts", deleteRule: .cascade, inverse: \CountedPart.whole)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Counted._propertyBase_Counted {
        case 0: visitor.visit(self, \Counted.name)
        case 1: visitor.visit(self, \Counted.partCount)
        case 2: visitor.visit(self, \Counted.loud)
        case 3: visitor.visit(self, \Counted.parts)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Counted: ManagedEntity {}

/// One part of it.
final class CountedPart: ManagedObject {
    var whole: Counted? {
        get { _get(CountedPart._propertyBase_CountedPart + 0) }
        set { _set(CountedPart._propertyBase_CountedPart + 0, newValue) }
    }

    nonisolated static var _propertyBase_CountedPart: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_CountedPart: Int { _propertyBase_CountedPart + 1 }
    nonisolated override class var entityName: String { "CountedPart" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(CountedPart.self, superclass: ManagedObject.self) { CountedPart._describe_CountedPart(&$0) }
    }
    nonisolated static func _describe_CountedPart<Leaf: CountedPart>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.whole, "whole")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - CountedPart._propertyBase_CountedPart {
        case 0: visitor.visit(self, \CountedPart.whole)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension CountedPart: ManagedEntity {}
