// Made by strata from the model BowTies. What is changed here is lost the next time.
// swift-format-ignore-file

import Foundation
import StrataGraph
import StrataModel

/// The properties of `BowTie`, which inherits from this class.
class _BowTie: ManagedObject {
    nonisolated override class var entityName: String { "BowTie" }

    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(BowTie.self, superclass: ManagedObject.self, .index(FetchIndexDescription(name: "bySearchKey", elements: [FetchIndexElement("searchKey")]))) {
            BowTie._describe_BowTie(&$0)
        }
    }

    nonisolated static var _propertyBase_BowTie: Int { ManagedObject._propertyEnd_ManagedObject }

    nonisolated static var _propertyEnd_BowTie: Int {
        _propertyBase_BowTie + 10
    }

    nonisolated static func _describe_BowTie<_Leaf: BowTie>(_ entity: inout EntityBuilder<_Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\_Leaf.id, "id")
        entity.property(\_Leaf.isFavorite, "isFavorite", default: false)
        entity.property(\_Leaf.lastWorn, "lastWorn")
        entity.property(\_Leaf.name, "name")
        entity.property(\_Leaf.photoData, "photoData", .externalStorage)
        entity.property(\_Leaf.rating, "rating", default: 0.0, .range(0.0 ... 5.0))
        entity.property(\_Leaf.searchKey, "searchKey")
        entity.property(\_Leaf.timesWorn, "timesWorn", default: 0)
        entity.transformable(\_Leaf.tintColor, "tintColor", by: "TieColorTransformer")
        entity.property(\_Leaf.url, "url")
    }

    nonisolated override func _visitKeyPath<_Visitor: _KeyPathVisitor>(
        at index: Int, _ visitor: inout _Visitor
    ) {
        guard let object = self as? BowTie else { return }
        switch index - Self._propertyBase_BowTie {
        case 0: visitor.visit(object, \BowTie.id)
        case 1: visitor.visit(object, \BowTie.isFavorite)
        case 2: visitor.visit(object, \BowTie.lastWorn)
        case 3: visitor.visit(object, \BowTie.name)
        case 4: visitor.visit(object, \BowTie.photoData)
        case 5: visitor.visit(object, \BowTie.rating)
        case 6: visitor.visit(object, \BowTie.searchKey)
        case 7: visitor.visit(object, \BowTie.timesWorn)
        case 8: visitor.visit(object, \BowTie.tintColor)
        case 9: visitor.visit(object, \BowTie.url)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }

    /// UUID, optional.
    var id: UUID? {
        get { _get(_BowTie._propertyBase_BowTie + 0) }
        set { _set(_BowTie._propertyBase_BowTie + 0, newValue) }
    }

    /// Boolean, required.
    var isFavorite: Bool {
        get { _get(_BowTie._propertyBase_BowTie + 1) }
        set { _set(_BowTie._propertyBase_BowTie + 1, newValue) }
    }

    /// Date, optional.
    var lastWorn: Date? {
        get { _get(_BowTie._propertyBase_BowTie + 2) }
        set { _set(_BowTie._propertyBase_BowTie + 2, newValue) }
    }

    /// String, optional.
    var name: String? {
        get { _get(_BowTie._propertyBase_BowTie + 3) }
        set { _set(_BowTie._propertyBase_BowTie + 3, newValue) }
    }

    /// Binary data, optional.
    var photoData: Data? {
        get { _get(_BowTie._propertyBase_BowTie + 4) }
        set { _set(_BowTie._propertyBase_BowTie + 4, newValue) }
    }

    /// Double, required, at least 0.0, at most 5.0.
    var rating: Double {
        get { _get(_BowTie._propertyBase_BowTie + 5) }
        set { _set(_BowTie._propertyBase_BowTie + 5, newValue) }
    }

    /// String, optional.
    var searchKey: String? {
        get { _get(_BowTie._propertyBase_BowTie + 6) }
        set { _set(_BowTie._propertyBase_BowTie + 6, newValue) }
    }

    /// 32-bit integer, required.
    var timesWorn: Int32 {
        get { _get(_BowTie._propertyBase_BowTie + 7) }
        set { _set(_BowTie._propertyBase_BowTie + 7, newValue) }
    }

    /// Transformable, optional, as the transformer `TieColorTransformer` makes it.
    var tintColor: TieColor? {
        get { _getTransformed(_BowTie._propertyBase_BowTie + 8) }
        set { _setTransformed(_BowTie._propertyBase_BowTie + 8, newValue) }
    }

    /// URL, optional.
    var url: URL? {
        get { _get(_BowTie._propertyBase_BowTie + 9) }
        set { _set(_BowTie._propertyBase_BowTie + 9, newValue) }
    }
}

extension BowTie: ManagedEntity {}

extension BowTie {
    /// Asks for all objects of the entity.
    static func fetchRequest() -> FetchRequest<BowTie> {
        FetchRequest<BowTie>()
    }
}
