import Foundation
import Strata
import Testing

struct DerivedEntityTests {
    @Test func aClassWithDerivedAttributesReadsThem() throws {
        let container = try PersistentContainer(name: "Test", entities: [Basket.self, Fruit.self], at: .inMemory)
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let basket = Basket(context: context)
        basket.name = "Été"
        for weight in [0.5, 1.25] {
            let fruit = Fruit(context: context)
            fruit.weight = weight
            fruit.basket = basket
        }
        try context.save()
        #expect(basket.sortName == "ete" && basket.fruitCount == 2 && basket.weight == 1.75)
        #expect(basket.modified != nil)
        let found = try context.fetch(try FetchRequest<Basket>().where { $0.fruitCount > 1 && $0.sortName == "ete" })
        #expect(found.count == 1)
    }
}
