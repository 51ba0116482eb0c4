import Foundation
import StrataGraph
import StrataModel

/// Sales in Strata, with a view of the shops or without one.
final class StrataSales {
    let container: PersistentContainer
    private let context: ManagedObjectContext
    private var ids: [ObjectID] = []

    /// Five aggregates for each shop.
    static func shops(isOrdered: Bool, isRanked: Bool = false) -> ViewDescription {
        let view = ViewSource(Sale.self, named: "Shops")
            .grouped(by: \.shop).counting(as: "sales").summing(\.amount, as: "amount").summing(\.weight, as: "weight")
            .minimum(\.day, as: "first").maximum(\.stars, as: "best")
        if isRanked { return view.ranked(by: "amount", ascending: false).description }
        return (isOrdered ? view.ordered(by: "amount", ascending: false) : view).description
    }

    init(at url: URL, views: [ViewDescription], durability: PersistentStoreDurability = .full) throws {
        container = try PersistentContainer(
            name: "sales", entities: [Sale.self], views: views, at: .url(url), options: .init(durability: durability))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
    }

    func close() { container.close() }

    /// The id of a sale by its number.
    func id(of number: Int) -> ObjectID { ids[number] }

    /// Adds sales in one save.
    func insert(_ rows: ArraySlice<SaleRow>) throws {
        for row in rows {
            let sale = Sale(context: context)
            sale.shop = Int32(row.shop)
            sale.amount = Int64(row.amount)
            sale.weight = row.weight
            sale.day = Int32(row.day)
            sale.stars = Int32(row.stars)
            ids.append(sale.objectID)
        }
        try context.save()
        context.reset()
    }

    /// Adds to the amounts of sales, by their numbers, in one save.
    func raise(_ numbers: [Int]) throws {
        for number in numbers { (context.object(with: ids[number]) as? Sale)?.amount += 1 }
        try context.save()
        context.reset()
    }

    /// The sum of a shop's amounts, from the view.
    func amount(ofShop shop: Int) throws -> Int {
        let rows = try context.fetchRows(ViewFetchRequest("Shops", where: .equal("shop", .integer(Int64(shop)))))
        return Self.amounts(rows).first ?? 0
    }

    /// The largest sums of shops, from the view.
    func top(_ count: Int) throws -> [Int] {
        Self.amounts(
            try context.fetchRows(ViewFetchRequest("Shops").sorted(by: "amount", ascending: false).prefix(count)))
    }

    private static let byAmount = ViewFetchRequest("Shops").sorted(by: "amount", ascending: false)

    /// How many shops have a larger sum, from the view.
    func rank(ofShop shop: Int) throws -> Int {
        try context.rank(of: .equal("shop", .integer(Int64(shop))), in: Self.byAmount).map { $0.rank - 1 } ?? 0
    }

    /// The sums of a shop and those around it, from the view.
    func amounts(aroundShop shop: Int, _ count: Int) throws -> [Int] {
        let found = try context.fetchRows(
            around: .equal("shop", .integer(Int64(shop))), before: count, after: count, in: Self.byAmount)
        return found.map { Self.amounts($0.rows) } ?? []
    }

    /// How far the view has come.
    func lag() throws -> ViewStatus? { try container.viewStatuses().first }

    /// All sums in the order of the shops, from the objects.
    func computed() throws -> [Int] {
        var request = RowsFetchRequest(
            entityName: "Sale",
            columns: [
                OutputColumn("shop"), OutputColumn("sales", .function(.count, [.evaluatedObject])),
                OutputColumn("amount", .function(.sum, [.keyPath("amount")])),
                OutputColumn("weight", .function(.sum, [.keyPath("weight")])),
                OutputColumn("first", .function(.min, [.keyPath("day")])),
                OutputColumn("best", .function(.max, [.keyPath("stars")])),
            ])
        request.groupBy = ["shop"]
        return Self.amounts(try context.fetchRows(request))
    }

    /// All sums in the order of the shops, from the view.
    func all() throws -> [Int] { Self.amounts(try context.rows(of: "Shops")) }

    private static func amounts(_ rows: ResultRows) -> [Int] {
        rows.map { row in
            guard case .integer(let amount) = row[row.startIndex + 2] else { return 0 }
            return Int(amount)
        }
    }
}
