import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// What all design objects of OO7 have in common.
class DesignObject: ManagedObject {
    final var id: Int32 {
        get { _get(DesignObject._propertyBase_DesignObject + 0) }
        set { _set(DesignObject._propertyBase_DesignObject + 0, newValue) }
    }
    final var type: String {
        get { _get(DesignObject._propertyBase_DesignObject + 1) }
        set { _set(DesignObject._propertyBase_DesignObject + 1, newValue) }
    }
    final var buildDate: Int32 {
        get { _get(DesignObject._propertyBase_DesignObject + 2) }
        set { _set(DesignObject._propertyBase_DesignObject + 2, newValue) }
    }

    nonisolated static var _propertyBase_DesignObject: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_DesignObject: Int { _propertyBase_DesignObject + 3 }
    nonisolated override class var entityName: String { "DesignObject" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(DesignObject.self, superclass: ManagedObject.self, .abstract) {
            DesignObject._describe_DesignObject(&$0)
        }
    }
    nonisolated static func _describe_DesignObject<Leaf: DesignObject>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.id, "id", default: 0)
        entity.property(\Leaf.type, "type", default: "")
        entity.property(\Leaf.buildDate, "buildDate", default: 0)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - DesignObject._propertyBase_DesignObject {
        case 0: visitor.visit(self, \DesignObject.id)
        case 1: visitor.visit(self, \DesignObject.type)
        case 2: visitor.visit(self, \DesignObject.buildDate)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension DesignObject: ManagedEntity {}

/// The smallest part: a node of its composite part's graph.
final class AtomicPart: DesignObject {
    var x: Int32 {
        get { _get(AtomicPart._propertyBase_AtomicPart + 0) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 0, newValue) }
    }
    var y: Int32 {
        get { _get(AtomicPart._propertyBase_AtomicPart + 1) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 1, newValue) }
    }
    var docId: Int32 {
        get { _get(AtomicPart._propertyBase_AtomicPart + 2) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 2, newValue) }
    }
    var to: ToMany<Connection> {
        get { _get(AtomicPart._propertyBase_AtomicPart + 3) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 3, newValue) }
    }
    var from: ToMany<Connection> {
        get { _get(AtomicPart._propertyBase_AtomicPart + 4) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 4, newValue) }
    }
    var partOf: CompositePart? {
        get { _get(AtomicPart._propertyBase_AtomicPart + 5) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 5, newValue) }
    }
    var rootOf: CompositePart? {
        get { _get(AtomicPart._propertyBase_AtomicPart + 6) }
        set { _set(AtomicPart._propertyBase_AtomicPart + 6, newValue) }
    }

    nonisolated static var _propertyBase_AtomicPart: Int { DesignObject._propertyEnd_DesignObject }
    nonisolated static var _propertyEnd_AtomicPart: Int { _propertyBase_AtomicPart + 7 }
    nonisolated override class var entityName: String { "AtomicPart" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(AtomicPart.self, superclass: DesignObject.self, .index("id"), .index("buildDate")) {
            AtomicPart._describe_AtomicPart(&$0)
        }
    }
    nonisolated static func _describe_AtomicPart<Leaf: AtomicPart>(_ entity: inout EntityBuilder<Leaf>) {
        DesignObject._describe_DesignObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.x, "x", default: 0)
        entity.property(\Leaf.y, "y", default: 0)
        entity.property(\Leaf.docId, "docId", default: 0)
        entity.relationship(\Leaf.to, "to", deleteRule: .cascade, inverse: \Connection.from)
        entity.relationship(\Leaf.from, "from", deleteRule: .cascade, inverse: \Connection.to)
        entity.relationship(\Leaf.partOf, "partOf", inverse: \CompositePart.parts)
        entity.relationship(\Leaf.rootOf, "rootOf", inverse: \CompositePart.rootPart)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - AtomicPart._propertyBase_AtomicPart {
        case 0: visitor.visit(self, \AtomicPart.x)
        case 1: visitor.visit(self, \AtomicPart.y)
        case 2: visitor.visit(self, \AtomicPart.docId)
        case 3: visitor.visit(self, \AtomicPart.to)
        case 4: visitor.visit(self, \AtomicPart.from)
        case 5: visitor.visit(self, \AtomicPart.partOf)
        case 6: visitor.visit(self, \AtomicPart.rootOf)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

/// A directed edge between two atomic parts, with attributes of its own.
final class Connection: ManagedObject {
    var type: String {
        get { _get(Connection._propertyBase_Connection + 0) }
        set { _set(Connection._propertyBase_Connection + 0, newValue) }
    }
    var length: Int32 {
        get { _get(Connection._propertyBase_Connection + 1) }
        set { _set(Connection._propertyBase_Connection + 1, newValue) }
    }
    var from: AtomicPart? {
        get { _get(Connection._propertyBase_Connection + 2) }
        set { _set(Connection._propertyBase_Connection + 2, newValue) }
    }
    var to: AtomicPart? {
        get { _get(Connection._propertyBase_Connection + 3) }
        set { _set(Connection._propertyBase_Connection + 3, newValue) }
    }

    nonisolated static var _propertyBase_Connection: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Connection: Int { _propertyBase_Connection + 4 }
    nonisolated override class var entityName: String { "Connection" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Connection.self, superclass: ManagedObject.self) { Connection._describe_Connection(&$0) }
    }
    nonisolated static func _describe_Connection<Leaf: Connection>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.type, "type", default: "")
        entity.property(\Leaf.length, "length", default: 0)
        entity.relationship(\Leaf.from, "from", inverse: \AtomicPart.to)
        entity.relationship(\Leaf.to, "to", inverse: \AtomicPart.from)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Connection._propertyBase_Connection {
        case 0: visitor.visit(self, \Connection.type)
        case 1: visitor.visit(self, \Connection.length)
        case 2: visitor.visit(self, \Connection.from)
        case 3: visitor.visit(self, \Connection.to)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Connection: ManagedEntity {}

/// A graph of atomic parts with its document.
final class CompositePart: DesignObject {
    var documentation: Document? {
        get { _get(CompositePart._propertyBase_CompositePart + 0) }
        set { _set(CompositePart._propertyBase_CompositePart + 0, newValue) }
    }
    var parts: ToMany<AtomicPart> {
        get { _get(CompositePart._propertyBase_CompositePart + 1) }
        set { _set(CompositePart._propertyBase_CompositePart + 1, newValue) }
    }
    var rootPart: AtomicPart? {
        get { _get(CompositePart._propertyBase_CompositePart + 2) }
        set { _set(CompositePart._propertyBase_CompositePart + 2, newValue) }
    }
    var usedInPriv: ToMany<BaseAssembly> {
        get { _get(CompositePart._propertyBase_CompositePart + 3) }
        set { _set(CompositePart._propertyBase_CompositePart + 3, newValue) }
    }
    var usedInShar: ToMany<BaseAssembly> {
        get { _get(CompositePart._propertyBase_CompositePart + 4) }
        set { _set(CompositePart._propertyBase_CompositePart + 4, newValue) }
    }

    nonisolated static var _propertyBase_CompositePart: Int { DesignObject._propertyEnd_DesignObject }
    nonisolated static var _propertyEnd_CompositePart: Int { _propertyBase_CompositePart + 5 }
    nonisolated override class var entityName: String { "CompositePart" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(CompositePart.self, superclass: DesignObject.self, .index("id")) {
            CompositePart._describe_CompositePart(&$0)
        }
    }
    nonisolated static func _describe_CompositePart<Leaf: CompositePart>(_ entity: inout EntityBuilder<Leaf>) {
        DesignObject._describe_DesignObject(&entity)
        entity.beginOwnProperties()
        entity.relationship(\Leaf.documentation, "documentation", deleteRule: .cascade, inverse: \Document.part)
        entity.relationship(\Leaf.parts, "parts", deleteRule: .cascade, inverse: \AtomicPart.partOf)
        entity.relationship(\Leaf.rootPart, "rootPart", inverse: \AtomicPart.rootOf)
        entity.relationship(\Leaf.usedInPriv, "usedInPriv", inverse: \BaseAssembly.componentsPriv)
        entity.relationship(\Leaf.usedInShar, "usedInShar", inverse: \BaseAssembly.componentsShar)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - CompositePart._propertyBase_CompositePart {
        case 0: visitor.visit(self, \CompositePart.documentation)
        case 1: visitor.visit(self, \CompositePart.parts)
        case 2: visitor.visit(self, \CompositePart.rootPart)
        case 3: visitor.visit(self, \CompositePart.usedInPriv)
        case 4: visitor.visit(self, \CompositePart.usedInShar)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

/// The document of a composite part.
final class Document: ManagedObject {
    var title: String {
        get { _get(Document._propertyBase_Document + 0) }
        set { _set(Document._propertyBase_Document + 0, newValue) }
    }
    var id: Int32 {
        get { _get(Document._propertyBase_Document + 1) }
        set { _set(Document._propertyBase_Document + 1, newValue) }
    }
    var text: String {
        get { _get(Document._propertyBase_Document + 2) }
        set { _set(Document._propertyBase_Document + 2, newValue) }
    }
    var part: CompositePart? {
        get { _get(Document._propertyBase_Document + 3) }
        set { _set(Document._propertyBase_Document + 3, newValue) }
    }

    nonisolated static var _propertyBase_Document: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Document: Int { _propertyBase_Document + 4 }
    nonisolated override class var entityName: String { "Document" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Document.self, superclass: ManagedObject.self) { Document._describe_Document(&$0) }
    }
    nonisolated static func _describe_Document<Leaf: Document>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title", default: "", .indexed)
        entity.property(\Leaf.id, "id", default: 0, .indexed)
        entity.property(\Leaf.text, "text", default: "")
        entity.relationship(\Leaf.part, "part", inverse: \CompositePart.documentation)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Document._propertyBase_Document {
        case 0: visitor.visit(self, \Document.title)
        case 1: visitor.visit(self, \Document.id)
        case 2: visitor.visit(self, \Document.text)
        case 3: visitor.visit(self, \Document.part)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Document: ManagedEntity {}
