import StrataGraph
import StrataModel

/// The owner of pictures.
final class Album: ManagedObject {
    var pictures: ToMany<Picture> {
        get { _get(Album._propertyBase_Album + 0) }
        set { _set(Album._propertyBase_Album + 0, newValue) }
    }

    nonisolated static var _propertyBase_Album: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Album: Int { _propertyBase_Album + 1 }
    nonisolated override class var entityName: String { "Album" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Album.self, superclass: ManagedObject.self) { Album._describe_Album(&$0) }
    }
    nonisolated static func _describe_Album<Leaf: Album>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.relationship(\Leaf.pictures, "pictures", deleteRule: .cascade, inverse: \Picture.album)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Album._propertyBase_Album {
        case 0: visitor.visit(self, \Album.pictures)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Album: ManagedEntity {}

/// Hears of its deletion.
final class Picture: ManagedObject {
    var number: Int {
        get { _get(Picture._propertyBase_Picture + 0) }
        set { _set(Picture._propertyBase_Picture + 0, newValue) }
    }
    var album: Album? {
        get { _get(Picture._propertyBase_Picture + 1) }
        set { _set(Picture._propertyBase_Picture + 1, newValue) }
    }

    var heard: [String] = []

    override func prepareForDeletion() { heard.append("prepare") }
    override func willSave() { heard.append("willSave") }
    override func didSave() { heard.append("didSave") }

    nonisolated static var _propertyBase_Picture: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Picture: Int { _propertyBase_Picture + 2 }
    nonisolated override class var entityName: String { "Picture" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Picture.self, superclass: ManagedObject.self) { Picture._describe_Picture(&$0) }
    }
    nonisolated static func _describe_Picture<Leaf: Picture>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.number, "number")
        entity.property(\Leaf.album, "album")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Picture._propertyBase_Picture {
        case 0: visitor.visit(self, \Picture.number)
        case 1: visitor.visit(self, \Picture.album)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Picture: ManagedEntity {}
