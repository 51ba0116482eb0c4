import Foundation
import Strata

/// Derived attributes as a class declares them.
@Entity final class Basket: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Fruit.basket) var fruits: ToMany<Fruit>
    @Attribute(.derived("canonical:(name)"), .indexed) private(set) var sortName: String?
    @Attribute(.derived("fruits.@count")) private(set) var fruitCount: Int = 0
    @Attribute(.derived("fruits.weight.@sum")) private(set) var weight: Double = 0
    @Attribute(.derived("now()")) private(set) var modified: Date?
}

@Entity final class Fruit: ManagedObject {
    @Attribute var weight: Double = 0
    var basket: Basket?
}
