import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Attributes that the store computes at each save.
@Suite(.verifiesStores) struct DerivedAttributeTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try DerivedModel.container(try DerivedModel.model())
        context = container.newBackgroundContext()
    }

    @Test func aSavedObjectShowsWhatWasDerived() throws {
        let order = try context.make("Order", ["title": "Émile Ñandú"])
        #expect(try order.get("sortTitle", as: String.self) == nil)
        let before = Date()
        try context.save()
        #expect(try order.get("sortTitle") == "emile nandu")
        #expect(try order.get("loudTitle") == "ÉMILE ÑANDÚ")
        #expect(try order.get("itemCount") == Int64(0))
        #expect(try order.get("total") == Decimal(0))
        #expect(try order.get("customerName", as: String.self) == nil)
        #expect(try #require(try order.get("modified", as: Date.self)) >= before)
        #expect(!order.hasChanges && !context.hasChanges)
        let other = try container.newBackgroundContext().all("Order", "sortTitle == 'emile nandu' AND itemCount == 0")
        #expect(other.map(\.objectID) == [order.objectID])
    }

    @Test func membersThatComeChangeAndGoAlterTheAggregates() throws {
        let order = try context.make("Order")
        try context.save()
        let product = try context.make("Product", ["name": "Bolt", "grams": Int32(5)])
        let items = try (1...3).map {
            try context.make("Item", ["price": Decimal($0), "order": order, "product": product])
        }
        try context.save()
        #expect(try order.get("itemCount") == Int64(3) && order.get("total") == Decimal(6))
        #expect(try order.get("weight") == Int32(15))
        #expect(try items[0].get("productName") == "Bolt")
        try items[0].setValue(Decimal(10), forKey: "price")
        try product.setValue(Int32(7), forKey: "grams")
        try product.setValue("Nut", forKey: "name")
        try context.save()
        #expect(try order.get("total") == Decimal(15) && order.get("weight") == Int32(21))
        #expect(try items[2].get("productName") == "Nut")
        context.delete(items[1])
        try items[2].setValue(nil, forKey: "order")
        try context.save()
        #expect(try order.get("itemCount") == Int64(1) && order.get("total") == Decimal(10))
        #expect(try context.all("Order", "itemCount == 1").count == 1)
    }

    @Test func manyToManyAndFarEndsCountToo() throws {
        let (one, two) = (try context.make("Order", ["rate": 1.5]), try context.make("Order", ["rate": 2.0]))
        let tag = try context.make("Tag", ["name": "a"])
        try tag.setValue([one, two], forKey: "orders")
        let customer = try context.make("Customer", ["name": "ADA"])
        try one.setValue(customer, forKey: "customer")
        try context.save()
        #expect(try one.get("tagCount") == Int16(1) && tag.get("rates") == 3.5)
        #expect(try one.get("siblings") == Int32(1) && one.get("customerName") == "ada")
        #expect(try two.get("siblings", as: Int32.self) == nil)
        try two.setValue(customer, forKey: "customer")
        try one.setValue(4.0, forKey: "rate")
        try context.save()
        #expect(try one.get("siblings") == Int32(2) && two.get("siblings") == Int32(2))
        #expect(try tag.get("rates") == 6.0)
        context.delete(tag)
        context.delete(customer)
        try context.save()
        #expect(try one.get("tagCount") == Int16(0) && one.get("customerName", as: String.self) == nil)
    }

    @Test func anElementOfACompositeIsCopied() throws {
        let customer = try context.make("Customer", ["address": ["city": "Lyon"]])
        let order = try context.make("Order", ["customer": customer])
        try context.save()
        #expect(try order.get("city") == "Lyon")
    }

    @Test func nowIsTheSaveThatLastWroteTheObject() throws {
        let order = try context.make("Order", ["title": "a"])
        try context.save()
        let made = try #require(try order.get("modified", as: Date.self))
        _ = try context.make("Item", ["order": order])
        try context.save()
        // Its count is another, but nobody wrote the order itself.
        #expect(try order.get("itemCount") == Int64(1))
        #expect(try order.get("modified") == made)
        try order.setValue("b", forKey: "title")
        try context.save()
        #expect(try #require(try order.get("modified", as: Date.self)) > made)
    }

    // MARK: Who may set it

    @Test func nobodyElseSetsIt() throws {
        let order = try context.make("Order")
        let error = thrownError { try order.setValue(Int64(7), forKey: "itemCount") }
        #expect(error?.code == .readOnly)
        #expect(error?.message == "itemCount is derived from items.@count; the store computes it.")
        try context.save()
        let update = BatchUpdateRequest<ManagedObject>(
            entityName: "Order", setting: ["itemCount": .constant(.integer(9))])
        #expect(thrownError { _ = try context.execute(update) }?.code == .readOnly)
        let insert = BatchInsertRequest<ManagedObject>(entityName: "Order", [["itemCount": .integer(9)]])
        #expect(thrownError { _ = try context.execute(insert) }?.code == .readOnly)
        #expect(try context.all("Order").map { try $0.get("itemCount") } == [Int64(0)])
    }

    @Test func batchesDeriveAsSavesDo() throws {
        let order = try context.make("Order", ["title": "a"])
        try context.save()
        let insert = BatchInsertRequest<ManagedObject>(
            entityName: "Item",
            (0..<50).map { ["price": .decimal(Decimal($0)), "order": .objectID(order.objectID)] })
        _ = try context.execute(insert)
        context.refreshAllObjects()
        #expect(try order.get("itemCount") == Int64(50) && order.get("total") == Decimal(1225))
        let update = BatchUpdateRequest<ManagedObject>(
            entityName: "Item", where: try FetchPredicate(format: "price > 48"),
            setting: ["price": .constant(.decimal(0))])
        _ = try context.execute(update)
        _ = try context.execute(
            BatchDeleteRequest<ManagedObject>(
                entityName: "Item", where: try FetchPredicate(format: "price > 0 AND price < 3")))
        context.refreshAllObjects()
        #expect(try order.get("itemCount") == Int64(48) && order.get("total") == Decimal(1225 - 49 - 3))
    }

    // MARK: With others

    @Test func whatIsDerivedIsNoConflict() throws {
        let order = try context.make("Order", ["title": "a"])
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: order.objectID)
        try order.setValue("b", forKey: "title")
        _ = try other.make("Item", ["order": theirs])
        try other.save()
        // The order's row is newer now, but in nothing that anybody set.
        try context.save()
        #expect(try order.get("itemCount") == Int64(1) && order.get("sortTitle") == "b")
        _ = try other.make("Item", ["order": theirs, "price": Decimal(2)])
        try other.save()
        context.delete(order)
        try context.save()
        #expect(try container.newBackgroundContext().all("Order").isEmpty)
    }

    @Test func twoWhoAddMembersAtTheSameTimeAreBothCounted() throws {
        let order = try context.make("Order")
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: order.objectID)
        for _ in 0..<5 {
            _ = try context.make("Item", ["order": order])
            _ = try other.make("Item", ["order": theirs])
            try context.save()
            try other.save()
        }
        context.refreshAllObjects()
        #expect(try order.get("itemCount") == Int64(10))
    }

    // MARK: History

    @Test func itIsAnOrdinaryChangeOfTheTransaction() throws {
        let order = try context.make("Order")
        try context.save()
        context.transactionAuthor = "Ada"
        _ = try context.make("Item", ["order": order])
        try context.save()
        let history = try container.history(of: order.objectID)
        #expect(history.first?.changes.map(\.key) == ["itemCount"] && history.count == 2)
        let past = try container.context(asOf: .event(try #require(history.last).eventNumber))
        #expect(try past.all("Order").map { try $0.get("itemCount") } == [Int64(0)])
    }

    @Test func revertTakesBackWhatWasSetAndDerivesTheRest() throws {
        let order = try context.make("Order", ["title": "a"])
        try context.save()
        _ = try context.make("Item", ["order": order])
        try context.save()
        let transaction = try #require(try container.history(of: order.objectID).first?.transaction.number)
        _ = try context.make("Item", ["order": order])
        try context.save()
        // The second item changed the count again: that is no conflict.
        try context.revert(transaction)
        try context.save()
        #expect(try order.get("itemCount") == Int64(1))
        try context.restore(
            order.objectID, at: try #require(try container.history(of: order.objectID).last).eventNumber)
        #expect(!context.hasChanges)
    }

    // MARK: Errors

    @Test func aValueThatTheAttributeCannotHoldIsRefused() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Sum",
                properties: [
                    DerivedModel.plain("name", .string),
                    DerivedModel.link("parts", "Part", "whole", isToMany: true),
                    try DerivedModel.derived("total", .integer16, "parts.size.@sum"),
                    try DerivedModel.derived("upper", .string, "uppercase:(name)", isOptional: false),
                ]),
            EntityDescription(
                name: "Part",
                properties: [
                    DerivedModel.plain("size", .integer64), DerivedModel.link("whole", "Sum", "parts"),
                ]),
        ])
        let context = try DerivedModel.container(model).newBackgroundContext()
        let sum = try context.make("Sum")
        let missing = thrownError { try context.save() }
        #expect(missing?.code == .validationMissingMandatoryProperty && missing?.context.key == "upper")
        try sum.setValue("a", forKey: "name")
        try context.save()
        let part = try context.make("Part", ["size": Int64(40_000), "whole": sum])
        let tooLarge = thrownError { try context.save() }
        #expect(tooLarge?.code == .validationNumberTooLarge && tooLarge?.context.objectID == sum.objectID)
        #expect(tooLarge?.message == "total comes to more than 16-bit integer holds.")
        try part.setValue(Int64(4), forKey: "size")
        try context.save()
        #expect(try sum.get("total") == Int16(4))
    }

    @Test(arguments: [Int64.min, Int64.max]) func aSumBeyondTheIntegersIsRefused(size: Int64) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Sum",
                properties: [
                    DerivedModel.link("parts", "Part", "whole", isToMany: true),
                    try DerivedModel.derived("total", .integer64, "parts.size.@sum"),
                ]),
            EntityDescription(
                name: "Part",
                properties: [
                    DerivedModel.plain("size", .integer64), DerivedModel.link("whole", "Sum", "parts"),
                ]),
        ])
        let context = try DerivedModel.container(model).newBackgroundContext()
        let sum = try context.make("Sum")
        // As a double, the sum of both is no other than that of one.
        for size in [size, size.signum() * 5] { try context.make("Part", ["size": size, "whole": sum]) }
        #expect(thrownError { try context.save() }?.code == .validationNumberTooLarge)
    }

    @Test func itIsInheritedAndCountsSubentities() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Node", isAbstract: true,
                properties: [
                    DerivedModel.plain("name", .string), DerivedModel.link("parent", "Folder", "children"),
                    try DerivedModel.derived("key", .string, "lowercase:(name)"),
                    try DerivedModel.derived("folder", .string, "parent.name"),
                ]),
            EntityDescription(
                name: "File", superentityName: "Node", properties: [DerivedModel.plain("size", .integer32)]),
            EntityDescription(
                name: "Folder", superentityName: "Node",
                properties: [
                    DerivedModel.link("children", "Node", "parent", isToMany: true),
                    try DerivedModel.derived("childCount", .integer32, "children.@count"),
                ]),
        ])
        let context = try DerivedModel.container(model).newBackgroundContext()
        let root = try context.make("Folder", ["name": "ROOT"])
        let inner = try context.make("Folder", ["name": "In", "parent": root])
        let file = try context.make("File", ["name": "A.TXT", "parent": root, "size": Int32(2)])
        try context.save()
        #expect(try root.get("childCount") == Int32(2) && inner.get("childCount") == Int32(0))
        #expect(try file.get("key") == "a.txt" && file.get("folder") == "ROOT" && root.get("key") == "root")
        try root.setValue("R", forKey: "name")
        try file.setValue(inner, forKey: "parent")
        try context.save()
        #expect(try inner.get("folder") == "R" && file.get("folder") == "In")
        #expect(try root.get("childCount") == Int32(1) && inner.get("childCount") == Int32(1))
        #expect(try context.all("Node", "key == 'a.txt'").map(\.objectID) == [file.objectID])
    }

    @Test func whatAChildContextChangesIsDerivedWhenItsParentSaves() throws {
        let order = try context.make("Order", ["title": "a"])
        try context.save()
        let child = try context.newChildContext()
        let own = try child.existingObject(with: order.objectID)
        _ = try child.make("Item", ["order": own, "price": Decimal(3)])
        try own.setValue("B", forKey: "title")
        try child.save()
        #expect(try order.get("itemCount") == Int64(0))
        try context.save()
        #expect(try order.get("itemCount") == Int64(1) && order.get("sortTitle") == "b")
        child.refreshAllObjects()
        #expect(try own.get("total") == Decimal(3))
    }

    @Test func aTypedSetterHasNoEffect() throws {
        let container = try makeContainer([Counted.self, CountedPart.self])
        let context = container.newBackgroundContext()
        let whole = Counted(context: context)
        whole.name = "a"
        whole.partCount = 12
        try context.save()
        #expect(whole.partCount == 0)
        whole.partCount = 7
        #expect(!whole.hasPersistentChangedValues)
        try context.save()
        #expect(whole.partCount == 0 && !context.hasChanges)
        CountedPart(context: context).whole = whole
        whole.partCount = 9
        try context.save()
        #expect(whole.partCount == 1 && whole.loud == "A")
        #expect(try container.verify().isSound)
    }
}
