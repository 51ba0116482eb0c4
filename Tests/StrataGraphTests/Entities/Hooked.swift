import Foundation
import StrataGraph
import StrataModel

/// Records which hooks were called.
final class Hooked: ManagedObject {
    var name: String? {
        get { _get(Hooked._propertyBase_Hooked + 0) }
        set { _set(Hooked._propertyBase_Hooked + 0, newValue) }
    }
    var stamp: Int {
        get { _get(Hooked._propertyBase_Hooked + 1) }
        set { _set(Hooked._propertyBase_Hooked + 1, newValue) }
    }
    var count: Int16 {
        get { _get(Hooked._propertyBase_Hooked + 2) }
        set { _set(Hooked._propertyBase_Hooked + 2, newValue) }
    }

    var calls: [String] = []
    var willSaveBody: ((Hooked) -> Void)?
    var didSaveBody: ((Hooked) -> Void)?
    var prepareForDeletionBody: ((Hooked) -> Void)?

    override func awakeFromInsert() { calls.append("awakeFromInsert") }
    override func awakeFromFetch() { calls.append("awakeFromFetch") }
    override func willSave() {
        calls.append("willSave")
        willSaveBody?(self)
    }
    override func didSave() {
        calls.append(isDeleted ? "didSave deleted" : "didSave")
        didSaveBody?(self)
    }
    override func prepareForDeletion() {
        calls.append("prepareForDeletion")
        prepareForDeletionBody?(self)
    }
    override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
    override func didTurnIntoFault() { calls.append("didTurnIntoFault") }
    override func validateForInsert() throws {
        calls.append("validateForInsert")
        try super.validateForInsert()
    }
    override func validateForUpdate() throws {
        calls.append("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        calls.append("validateForDelete")
        try super.validateForDelete()
        if name == "kept" {
            throw StrataError(.managedObjectValidation, "It must stay.", context: .init(key: "name"))
        }
    }
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "name", let text = value as? String { value = text.trimmingCharacters(in: .whitespaces) }
        try super.validateValue(&value, forKey: key)
    }

    nonisolated static var _propertyBase_Hooked: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Hooked: Int { _propertyBase_Hooked + 3 }
    nonisolated override class var entityName: String { "Hooked" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Hooked.self, superclass: ManagedObject.self) { Hooked._describe_Hooked(&$0) }
    }
    nonisolated static func _describe_Hooked<Leaf: Hooked>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", .length(...10))
        entity.property(\Leaf.stamp, "stamp", default: 0)
        entity.property(\Leaf.count, "count", default: 0, .range(0...9))
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Hooked._propertyBase_Hooked {
        case 0: visitor.visit(self, \Hooked.name)
        case 1: visitor.visit(self, \Hooked.stamp)
        case 2: visitor.visit(self, \Hooked.count)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Hooked: ManagedEntity {}
