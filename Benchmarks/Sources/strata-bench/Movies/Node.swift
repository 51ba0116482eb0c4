import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// A link of a chain: a number, and a to-one without inverse.
final class Node: ManagedObject {
    var number: Int32 {
        get { _get(Node._propertyBase_Node + 0) }
        set { _set(Node._propertyBase_Node + 0, newValue) }
    }
    var next: Node? {
        get { _get(Node._propertyBase_Node + 1) }
        set { _set(Node._propertyBase_Node + 1, newValue) }
    }

    nonisolated static var _propertyBase_Node: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Node: Int { _propertyBase_Node + 2 }
    nonisolated override class var entityName: String { "Node" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Node.self, superclass: ManagedObject.self) { Node._describe_Node(&$0) }
    }
    nonisolated static func _describe_Node<Leaf: Node>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.number, "number", default: 0)
        entity.relationship(\Leaf.next, "next", .noInverse)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Node._propertyBase_Node {
        case 0: visitor.visit(self, \Node.number)
        case 1: visitor.visit(self, \Node.next)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Node: ManagedEntity {}
