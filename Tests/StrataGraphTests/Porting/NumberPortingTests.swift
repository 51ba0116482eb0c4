import Foundation
import StrataGraph
import StrataModel
import Testing

/// Numbers at the edge of what attributes, keys and merges take.
@Suite(.verifiesStores) struct NumberPortingTests {
    private static let numbers: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1, -.leastNonzeroMagnitude, -0.0, 0.0, .leastNonzeroMagnitude, 1,
        .greatestFiniteMagnitude, .infinity, .nan,
    ]

    @Test func unusualNumbersAreFoundWithAndWithoutAnIndex() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("indexed", .double), Porting.attribute("plain", .double),
                    Porting.attribute("small", .float), Porting.attribute("name", .string),
                ], indexes: [Porting.index("byNumber", "indexed"), Porting.index("bySmall", "small")])
        ])
        let context = container.newBackgroundContext()
        for (index, number) in Self.numbers.enumerated() {
            try context.make(
                "Item", ["indexed": number, "plain": number, "small": Float(number), "name": "\(index)"])
        }
        try context.make("Item", ["name": "nil"])
        func check() throws {
            for number in Self.numbers {
                for test in ["==", "<", "<=", ">", ">=", "!="] {
                    let found = try ["indexed", "plain"].map { key in
                        try context.find("Item", "\(key) \(test) %@", [number]).map { try $0.text() ?? "" }.sorted()
                    }
                    #expect(found[0] == found[1], "\(test) \(number)")
                }
            }
            let orders = try ["indexed", "plain"].map { key in
                try context.find("Item", sortedBy: [SortDescription(key), SortDescription("name")])
                    .map { try $0.text() ?? "" }
            }
            #expect(orders[0] == orders[1])
            #expect(try context.find("Item", "small == 0").count == 4)
        }
        try check()
        try context.save()
        try check()
    }

    @Test func zerosAreOneUniqueValueAndNotANumberAnother() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item", properties: [Porting.attribute("number", .double)], uniquenessConstraints: [["number"]])
        ])
        let context = container.newBackgroundContext()
        try context.make("Item", ["number": 0.0])
        try context.make("Item")
        try context.make("Item")
        try context.save()
        try context.make("Item", ["number": -0.0])
        #expect(thrownError { try context.save() }?.code == .constraintMerge)
        context.rollback()
        try context.make("Item", ["number": Double.infinity])
        try context.make("Item", ["number": -Double.infinity])
        try context.save()
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 5)
    }

    @Test func decimalsOfThirtyEightDigitsKeepThemAndTheirOrder() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item", properties: [Porting.attribute("money", .decimal), Porting.attribute("plain", .decimal)],
                indexes: [Porting.index("byMoney", "money")])
        ])
        let context = container.newBackgroundContext()
        let texts = [
            "-99999999999999999999999999999999999999", "-1.5", "-0.0000000000000000000000000000000000001", "0",
            "0.0000000000000000000000000000000000001", "0.1", "0.10000000000000000000000000000000000001", "1",
            "12345678901234567890123456789012345678", "12345678901234567890123456789012345679",
            "99999999999999999999999999999999999999", "1e100", "9.9999999999999999999999999999999999999e127",
        ]
        let decimals = try texts.map { try #require(Decimal(string: $0)) }
        for decimal in decimals.shuffled() { try context.make("Item", ["money": decimal, "plain": decimal]) }
        try context.save()
        let other = container.newBackgroundContext()
        let found = try other.find("Item", sortedBy: [SortDescription("money")]).map { try $0.value(forKey: "money") }
        #expect(found as? [Decimal] == decimals)
        for key in ["money", "plain"] {
            for (index, decimal) in decimals.enumerated() {
                #expect(try other.find("Item", "\(key) == %@", [decimal]).count == 1, "\(key) \(decimal)")
                #expect(try other.find("Item", "\(key) < %@", [decimal]).count == index, "\(key) \(decimal)")
            }
        }
        #expect(
            try other.find("Item", "money == %@", [Decimal(sign: .plus, exponent: -3, significand: 1000)]).count == 1)
    }

    @Test func whatIsNotANumberIsNoConflict() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item", properties: [Porting.attribute("number", .double), Porting.attribute("money", .decimal)])
        ])
        let context = container.newBackgroundContext()
        let items = try (0..<2).map { _ in
            try context.make("Item", ["number": Double.nan, "money": Decimal.nan])
        }
        try context.save()
        let first = try #require(container.transactions().last?.number)
        let child = try context.newChildContext()
        try child.existingObject(with: items[0].objectID).setValue(1.0, forKey: "number")
        child.delete(try child.existingObject(with: items[1].objectID))
        #expect(try child.changes().map(\.kind) == [.updated, .deleted])
        try child.save()
        try context.save()
        #expect(try context.find("Item") == [items[0]])
        context.rollback()
        try items[0].setValue(Double.nan, forKey: "number")
        try context.save()
        #expect(try context.changes().isEmpty)
        #expect(try container.changes(from: .transaction(first), to: .now).map(\.kind) == [.deleted])
        try context.revert(first, policy: .error)
        try context.save()
        #expect(try context.find("Item").isEmpty)
    }

    @Test func aConflictOverWhatIsNotANumberIsRecorded() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item", properties: [Porting.attribute("number", .double), Porting.attribute("money", .decimal)])
        ])
        let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
        let item = try mine.make("Item", ["number": 1.0, "money": Decimal(1)])
        try mine.save()
        theirs.refreshAllObjects()
        let other = try theirs.existingObject(with: item.objectID)
        try other.setValue(Double.nan, forKey: "number")
        try other.setValue(Decimal.nan, forKey: "money")
        try theirs.save()
        try item.setValue(-Double.infinity, forKey: "number")
        try item.setValue(Decimal(3), forKey: "money")
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        let conflicts = try #require(container.transactions().last?.conflicts)
        #expect(conflicts.count == 1 && conflicts[0].winner == .mine && conflicts[0].conflict.properties.count == 2)
    }
}
