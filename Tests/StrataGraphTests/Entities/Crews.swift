import StrataGraph
import StrataModel

/// Has at most one sailor who stands watch, and records its hooks.
final class Crew: ManagedObject {
    var name: String {
        get { _get(Crew._propertyBase_Crew + 0) }
        set { _set(Crew._propertyBase_Crew + 0, newValue) }
    }
    var sailors: ToMany<Sailor> {
        get { _get(Crew._propertyBase_Crew + 1) }
        set { _set(Crew._propertyBase_Crew + 1, newValue) }
    }
    var watch: ToMany<Sailor> {
        get { _get(Crew._propertyBase_Crew + 2) }
        set { _set(Crew._propertyBase_Crew + 2, newValue) }
    }

    var calls: [String] = []

    override func willSave() { calls.append("willSave") }
    override func validateForUpdate() throws {
        calls.append("validateForUpdate")
        try super.validateForUpdate()
        if sailors.count > 3 { throw TooManySailors() }
    }

    nonisolated static var _propertyBase_Crew: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Crew: Int { _propertyBase_Crew + 3 }
    nonisolated override class var entityName: String { "Crew" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Crew.self, superclass: ManagedObject.self) { Crew._describe_Crew(&$0) }
    }
    nonisolated static func _describe_Crew<Leaf: Crew>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", default: "")
        entity.relationship(\Leaf.sailors, "sailors", inverse: \Sailor.crew, .ordered)
        entity.relationship(\Leaf.watch, "watch", inverse: \Sailor.watches, .maxCount(1))
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Crew._propertyBase_Crew {
        case 0: visitor.visit(self, \Crew.name)
        case 1: visitor.visit(self, \Crew.sailors)
        case 2: visitor.visit(self, \Crew.watch)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Crew: ManagedEntity {}

/// What the application throws itself.
struct TooManySailors: Error, Equatable {}

/// Sails in a crew.
final class Sailor: ManagedObject {
    var name: String {
        get { _get(Sailor._propertyBase_Sailor + 0) }
        set { _set(Sailor._propertyBase_Sailor + 0, newValue) }
    }
    var crew: Crew? {
        get { _get(Sailor._propertyBase_Sailor + 1) }
        set { _set(Sailor._propertyBase_Sailor + 1, newValue) }
    }
    var watches: ToMany<Crew> {
        get { _get(Sailor._propertyBase_Sailor + 2) }
        set { _set(Sailor._propertyBase_Sailor + 2, newValue) }
    }

    nonisolated static var _propertyBase_Sailor: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Sailor: Int { _propertyBase_Sailor + 3 }
    nonisolated override class var entityName: String { "Sailor" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Sailor.self, superclass: ManagedObject.self) { Sailor._describe_Sailor(&$0) }
    }
    nonisolated static func _describe_Sailor<Leaf: Sailor>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", default: "")
        entity.property(\Leaf.crew, "crew")
        entity.property(\Leaf.watches, "watches")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Sailor._propertyBase_Sailor {
        case 0: visitor.visit(self, \Sailor.name)
        case 1: visitor.visit(self, \Sailor.crew)
        case 2: visitor.visit(self, \Sailor.watches)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Sailor: ManagedEntity {}
