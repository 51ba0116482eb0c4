import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// The manual of a module.
final class Manual: ManagedObject {
    var title: String {
        get { _get(Manual._propertyBase_Manual + 0) }
        set { _set(Manual._propertyBase_Manual + 0, newValue) }
    }
    var id: Int32 {
        get { _get(Manual._propertyBase_Manual + 1) }
        set { _set(Manual._propertyBase_Manual + 1, newValue) }
    }
    var text: String {
        get { _get(Manual._propertyBase_Manual + 2) }
        set { _set(Manual._propertyBase_Manual + 2, newValue) }
    }
    var textLen: Int32 {
        get { _get(Manual._propertyBase_Manual + 3) }
        set { _set(Manual._propertyBase_Manual + 3, newValue) }
    }
    var module: Module? {
        get { _get(Manual._propertyBase_Manual + 4) }
        set { _set(Manual._propertyBase_Manual + 4, newValue) }
    }

    nonisolated static var _propertyBase_Manual: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Manual: Int { _propertyBase_Manual + 5 }
    nonisolated override class var entityName: String { "Manual" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Manual.self, superclass: ManagedObject.self) { Manual._describe_Manual(&$0) }
    }
    nonisolated static func _describe_Manual<Leaf: Manual>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title", default: "")
        entity.property(\Leaf.id, "id", default: 0)
        entity.property(\Leaf.text, "text", default: "")
        entity.property(\Leaf.textLen, "textLen", default: 0)
        entity.relationship(\Leaf.module, "module", inverse: \Module.manual)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Manual._propertyBase_Manual {
        case 0: visitor.visit(self, \Manual.title)
        case 1: visitor.visit(self, \Manual.id)
        case 2: visitor.visit(self, \Manual.text)
        case 3: visitor.visit(self, \Manual.textLen)
        case 4: visitor.visit(self, \Manual.module)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Manual: ManagedEntity {}

/// An inner node or leaf of the module's tree.
class Assembly: DesignObject {
    final var superAssembly: ComplexAssembly? {
        get { _get(Assembly._propertyBase_Assembly + 0) }
        set { _set(Assembly._propertyBase_Assembly + 0, newValue) }
    }
    final var module: Module? {
        get { _get(Assembly._propertyBase_Assembly + 1) }
        set { _set(Assembly._propertyBase_Assembly + 1, newValue) }
    }

    nonisolated static var _propertyBase_Assembly: Int { DesignObject._propertyEnd_DesignObject }
    nonisolated static var _propertyEnd_Assembly: Int { _propertyBase_Assembly + 2 }
    nonisolated override class var entityName: String { "Assembly" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Assembly.self, superclass: DesignObject.self, .abstract) { Assembly._describe_Assembly(&$0) }
    }
    nonisolated static func _describe_Assembly<Leaf: Assembly>(_ entity: inout EntityBuilder<Leaf>) {
        DesignObject._describe_DesignObject(&entity)
        entity.beginOwnProperties()
        entity.relationship(\Leaf.superAssembly, "superAssembly", inverse: \ComplexAssembly.subAssemblies)
        entity.relationship(\Leaf.module, "module", inverse: \Module.assemblies)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Assembly._propertyBase_Assembly {
        case 0: visitor.visit(self, \Assembly.superAssembly)
        case 1: visitor.visit(self, \Assembly.module)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

/// An inner node: three assemblies below it.
final class ComplexAssembly: Assembly {
    var subAssemblies: ToMany<Assembly> {
        get { _get(ComplexAssembly._propertyBase_ComplexAssembly + 0) }
        set { _set(ComplexAssembly._propertyBase_ComplexAssembly + 0, newValue) }
    }
    var rootOf: Module? {
        get { _get(ComplexAssembly._propertyBase_ComplexAssembly + 1) }
        set { _set(ComplexAssembly._propertyBase_ComplexAssembly + 1, newValue) }
    }

    nonisolated static var _propertyBase_ComplexAssembly: Int { Assembly._propertyEnd_Assembly }
    nonisolated static var _propertyEnd_ComplexAssembly: Int { _propertyBase_ComplexAssembly + 2 }
    nonisolated override class var entityName: String { "ComplexAssembly" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(ComplexAssembly.self, superclass: Assembly.self) {
            ComplexAssembly._describe_ComplexAssembly(&$0)
        }
    }
    nonisolated static func _describe_ComplexAssembly<Leaf: ComplexAssembly>(_ entity: inout EntityBuilder<Leaf>) {
        Assembly._describe_Assembly(&entity)
        entity.beginOwnProperties()
        entity.relationship(
            \Leaf.subAssemblies, "subAssemblies", deleteRule: .cascade, inverse: \Assembly.superAssembly)
        entity.relationship(\Leaf.rootOf, "rootOf", inverse: \Module.designRoot)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - ComplexAssembly._propertyBase_ComplexAssembly {
        case 0: visitor.visit(self, \ComplexAssembly.subAssemblies)
        case 1: visitor.visit(self, \ComplexAssembly.rootOf)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

/// A leaf: it is made of composite parts.
final class BaseAssembly: Assembly {
    var componentsPriv: ToMany<CompositePart> {
        get { _get(BaseAssembly._propertyBase_BaseAssembly + 0) }
        set { _set(BaseAssembly._propertyBase_BaseAssembly + 0, newValue) }
    }
    var componentsShar: ToMany<CompositePart> {
        get { _get(BaseAssembly._propertyBase_BaseAssembly + 1) }
        set { _set(BaseAssembly._propertyBase_BaseAssembly + 1, newValue) }
    }

    nonisolated static var _propertyBase_BaseAssembly: Int { Assembly._propertyEnd_Assembly }
    nonisolated static var _propertyEnd_BaseAssembly: Int { _propertyBase_BaseAssembly + 2 }
    nonisolated override class var entityName: String { "BaseAssembly" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(BaseAssembly.self, superclass: Assembly.self, .index("id")) {
            BaseAssembly._describe_BaseAssembly(&$0)
        }
    }
    nonisolated static func _describe_BaseAssembly<Leaf: BaseAssembly>(_ entity: inout EntityBuilder<Leaf>) {
        Assembly._describe_Assembly(&entity)
        entity.beginOwnProperties()
        entity.relationship(\Leaf.componentsPriv, "componentsPriv", inverse: \CompositePart.usedInPriv)
        entity.relationship(\Leaf.componentsShar, "componentsShar", inverse: \CompositePart.usedInShar)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - BaseAssembly._propertyBase_BaseAssembly {
        case 0: visitor.visit(self, \BaseAssembly.componentsPriv)
        case 1: visitor.visit(self, \BaseAssembly.componentsShar)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

/// The whole design.
final class Module: DesignObject {
    var manual: Manual? {
        get { _get(Module._propertyBase_Module + 0) }
        set { _set(Module._propertyBase_Module + 0, newValue) }
    }
    var assemblies: ToMany<Assembly> {
        get { _get(Module._propertyBase_Module + 1) }
        set { _set(Module._propertyBase_Module + 1, newValue) }
    }
    var designRoot: ComplexAssembly? {
        get { _get(Module._propertyBase_Module + 2) }
        set { _set(Module._propertyBase_Module + 2, newValue) }
    }

    nonisolated static var _propertyBase_Module: Int { DesignObject._propertyEnd_DesignObject }
    nonisolated static var _propertyEnd_Module: Int { _propertyBase_Module + 3 }
    nonisolated override class var entityName: String { "Module" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Module.self, superclass: DesignObject.self, .index("id")) { Module._describe_Module(&$0) }
    }
    nonisolated static func _describe_Module<Leaf: Module>(_ entity: inout EntityBuilder<Leaf>) {
        DesignObject._describe_DesignObject(&entity)
        entity.beginOwnProperties()
        entity.relationship(\Leaf.manual, "manual", deleteRule: .cascade, inverse: \Manual.module)
        entity.relationship(\Leaf.assemblies, "assemblies", deleteRule: .cascade, inverse: \Assembly.module)
        entity.relationship(\Leaf.designRoot, "designRoot", inverse: \ComplexAssembly.rootOf)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Module._propertyBase_Module {
        case 0: visitor.visit(self, \Module.manual)
        case 1: visitor.visit(self, \Module.assemblies)
        case 2: visitor.visit(self, \Module.designRoot)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
