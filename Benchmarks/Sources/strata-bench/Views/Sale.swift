import Foundation
import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// A sale of a shop.
final class Sale: ManagedObject {
    var shop: Int32 {
        get { _get(Sale._propertyBase_Sale + 0) }
        set { _set(Sale._propertyBase_Sale + 0, newValue) }
    }
    var amount: Int64 {
        get { _get(Sale._propertyBase_Sale + 1) }
        set { _set(Sale._propertyBase_Sale + 1, newValue) }
    }
    var weight: Double {
        get { _get(Sale._propertyBase_Sale + 2) }
        set { _set(Sale._propertyBase_Sale + 2, newValue) }
    }
    var day: Int32 {
        get { _get(Sale._propertyBase_Sale + 3) }
        set { _set(Sale._propertyBase_Sale + 3, newValue) }
    }
    var stars: Int32 {
        get { _get(Sale._propertyBase_Sale + 4) }
        set { _set(Sale._propertyBase_Sale + 4, newValue) }
    }

    nonisolated static var _propertyBase_Sale: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Sale: Int { _propertyBase_Sale + 5 }
    nonisolated override class var entityName: String { "Sale" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Sale.self, superclass: ManagedObject.self) { Sale._describe_Sale(&$0) }
    }
    nonisolated static func _describe_Sale<Leaf: Sale>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.shop, "shop", default: 0)
        entity.property(\Leaf.amount, "amount", default: 0)
        entity.property(\Leaf.weight, "weight", default: 0)
        entity.property(\Leaf.day, "day", default: 0)
        entity.property(\Leaf.stars, "stars", default: 0)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Sale._propertyBase_Sale {
        case 0: visitor.visit(self, \Sale.shop)
        case 1: visitor.visit(self, \Sale.amount)
        case 2: visitor.visit(self, \Sale.weight)
        case 3: visitor.visit(self, \Sale.day)
        case 4: visitor.visit(self, \Sale.stars)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Sale: ManagedEntity {}

/// The same sales for every peer.
struct SaleRow {
    let shop, amount, day, stars: Int
    let weight: Double

    static func rows(_ count: Int, shops: Int, seed: UInt64) -> [SaleRow] {
        var random = Random(seed: seed)
        return (0..<count).map { _ in
            SaleRow(
                shop: .random(in: 0..<shops, using: &random), amount: .random(in: 1...100_000, using: &random),
                day: .random(in: 0..<3_650, using: &random), stars: .random(in: 1...5, using: &random),
                weight: .random(in: 0..<10, using: &random))
        }
    }
}
