import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Requests that group objects in two stores with the same objects, one of which declares views that answer them.
@Suite(.verifiesStores) struct ViewAnswerTests {
    private static let entity = EntityDescription(
        name: "Item",
        properties: [
            .attribute(AttributeDescription(name: "price", type: .decimal, isOptional: true)),
            .attribute(AttributeDescription(name: "pieces", type: .integer64, isOptional: true)),
            .attribute(AttributeDescription(name: "score", type: .double, isOptional: true)),
            .attribute(AttributeDescription(name: "isSold", type: .boolean, isOptional: true)),
            .attribute(AttributeDescription(name: "day", type: .date, isOptional: true)),
            .attribute(AttributeDescription(name: "kind", type: .string, isOptional: true)),
        ])

    private func store(_ views: [ViewDescription]) throws -> ManagedObjectContext {
        let container = PersistentContainer(
            name: "Answers", model: try ManagedObjectModel(entities: [Self.entity]).adding(views: views), at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container.newBackgroundContext()
    }

    private static func views() throws -> [ViewDescription] {
        let aggregates = [
            ViewAggregate("n", .count), ViewAggregate("priced", .count, "price"), ViewAggregate("p", .sum, "price"),
            ViewAggregate("s", .sum, "pieces"), ViewAggregate("mean", .average, "pieces"),
            ViewAggregate("meanPrice", .average, "price"), ViewAggregate("least", .min, "price"),
            ViewAggregate("most", .max, "score"), ViewAggregate("first", .min, "day"),
        ]
        return [
            ViewDescription(
                name: "BySale", entityName: "Item", keys: [ViewKey("isSold"), ViewKey("day")], aggregates: aggregates),
            ViewDescription(
                name: "Many", entityName: "Item", where: try FetchPredicate(format: "pieces > 3"),
                keys: [ViewKey("price")], aggregates: aggregates),
        ]
    }

    private static func item(_ generator: inout SeededGenerator) -> [String: (any Sendable)?] {
        func maybe(_ value: any Sendable) -> (any Sendable)? {
            Int.random(in: 0..<5, using: &generator) == 0 ? nil : value
        }
        return [
            "price": maybe(Decimal(Int.random(in: -9...9, using: &generator)) / 4),
            "pieces": maybe(Int64.random(in: -2...9, using: &generator)),
            "score": maybe(Double(Int.random(in: 1...9, using: &generator)) / 8),
            "isSold": maybe(Bool.random(using: &generator)),
            "day": maybe(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -2...2, using: &generator)))),
            "kind": maybe(["a", "b"].randomElement(using: &generator) ?? "a"),
        ]
    }

    /// Requests, and whether a view answers each.
    private static func requests() throws -> [(RowsFetchRequest, Bool)] {
        func request(
            _ keys: [String], _ aggregates: [String], _ condition: String = "TRUEPREDICATE", having: String? = nil,
            sort: [SortDescription] = [], limit: Int = 0
        ) throws -> RowsFetchRequest {
            var request = RowsFetchRequest(
                entityName: "Item",
                columns: try keys.map { OutputColumn($0) }
                    + aggregates.map { OutputColumn($0, try FetchExpression(format: $0)) },
                where: condition == "TRUEPREDICATE" ? nil : try FetchPredicate(format: condition))
            request.groupBy = keys
            request.having = try having.map { try FetchPredicate(format: $0) }
            request.sortDescriptors = sort
            request.fetchLimit = limit
            return request
        }
        let all = [
            "count:(SELF)", "count:(price)", "sum:(price)", "sum:(pieces)", "average:(pieces)", "average:(price)",
            "min:(price)", "max:(score)", "min:(day)",
        ]
        return [
            (try request(["isSold", "day"], all), true), (try request(["day", "isSold"], all), true),
            (try request(["day", "isSold"], ["sum:(pieces) + count:(SELF)"], having: "min:(price) < 1"), true),
            (try request(["price"], all, "pieces > 3"), true),
            (
                try request(
                    ["price"], ["sum:(pieces)"], "pieces > 3",
                    sort: [SortDescription("sum:(pieces)", isAscending: false)],
                    limit: 2), true
            ),
            (try request(["price"], all), false), (try request(["isSold"], all), false),
            (try request(["price"], ["sum:(score)"], "pieces > 3"), false),
            (try request(["kind"], ["count:(SELF)"]), false),
            (try request(["price"], ["max:(pieces)"], "pieces > 3"), false),
        ]
    }

    @Test(arguments: RandomTesting.seeds)
    func answersAreThoseOfAPassOverTheObjects(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (plain, viewed) = (try store([]), try store(try Self.views()))
        let requests = try Self.requests()
        for step in 0..<25 {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let values = Self.item(&generator)
                let choice = Int.random(in: 0..<4, using: &generator)
                let number = Int.random(in: 0..<1_000, using: &generator)
                for context in [plain, viewed] {
                    let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
                        .sorted { $0.objectID < $1.objectID }
                    if choice == 0, !items.isEmpty {
                        context.delete(items[number % items.count])
                        continue
                    }
                    let item =
                        choice == 1 && !items.isEmpty
                        ? items[number % items.count] : try context.insertNewObject(forEntityName: "Item")
                    for (name, value) in values { try item.setValue(value, forKey: name) }
                }
            }
            if Bool.random(using: &generator) { for context in [plain, viewed] { try context.save() } }
            for (request, isAnswered) in requests {
                #expect(
                    try viewed.fetchRows(request) == plain.fetchRows(request), "seed \(seed), step \(step), \(request)")
                let explanation = try viewed.explain(request)
                #expect(explanation.steps.contains { $0.operation == .view } == isAnswered, "\(explanation)")
                #expect(try plain.explain(request).steps.allSatisfy { $0.operation != .view })
            }
        }
    }

    @Test func sumsOfDecimalsAreTheSameBesideTheRangeAndOfNone() throws {
        let view = ViewDescription(
            name: "Sums", entityName: "Item", keys: [ViewKey("day")],
            aggregates: [ViewAggregate("p", .sum, "price"), ViewAggregate("mean", .average, "price")])
        let largest = Decimal.greatestFiniteMagnitude
        let prices: [[Decimal?]] = [[nil], [1.5, nil], [.nan, 2], [largest, largest, largest, largest], [-1, 1]]
        let wanted: [AttributeValue] = [.decimal(0), .decimal(1.5), .null, .null, .decimal(0)]
        var request = RowsFetchRequest(
            entityName: "Item",
            columns: [
                OutputColumn("day"), OutputColumn("p", try FetchExpression(format: "sum:(price)")),
                OutputColumn("mean", try FetchExpression(format: "average:(price)")),
            ])
        (request.groupBy, request.sortDescriptors) = (["day"], [SortDescription("day")])
        let contexts = [try store([]), try store([view])]
        for context in contexts {
            for (day, prices) in prices.enumerated() {
                for price in prices {
                    let item = try context.insertNewObject(forEntityName: "Item")
                    try item.setValue(Date(timeIntervalSinceReferenceDate: Double(day)), forKey: "day")
                    try item.setValue(price, forKey: "price")
                }
            }
            try context.save()
            #expect(try context.fetchRows(request).map { $0[$0.startIndex + 1] } == wanted)
        }
        #expect(try contexts[0].fetchRows(request) == contexts[1].fetchRows(request))
        #expect(try contexts[1].rows(of: "Sums").map { $0[$0.startIndex + 1] } == wanted)
        #expect(try contexts[1].explain(request).steps.contains { $0.operation == .view })
    }

    @Test func aViewOfMembersAnswersARequestThatGroupsByThem() throws {
        let view = ViewDescription(
            name: "ByLabel", entityName: "Ware", keys: [ViewKey("labels")],
            aggregates: [ViewAggregate("n", .count), ViewAggregate("s", .sum, "pieces")])
        func labels(_ name: String, _ destination: String, _ inverse: String) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: destination, inverseName: inverse, isToMany: true))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Ware",
                properties: [
                    .attribute(AttributeDescription(name: "pieces", type: .integer64)),
                    labels("labels", "Label", "wares"),
                ]), EntityDescription(name: "Label", properties: [labels("wares", "Ware", "labels")]),
        ])
        var request = RowsFetchRequest(
            entityName: "Ware",
            columns: [
                OutputColumn("labels"), OutputColumn("n", try FetchExpression(format: "count:(SELF)")),
                OutputColumn("s", try FetchExpression(format: "sum:(pieces)")),
            ])
        (request.groupBy, request.sortDescriptors) = (["labels"], [SortDescription("n"), SortDescription("s")])
        var answers: [[[AttributeValue]]] = []
        for model in [model, try model.adding(views: [view])] {
            let container = PersistentContainer(
                name: "Wares", model: model, at: .inMemory, options: .init(durability: .disposable))
            try container.loadPersistentStores()
            MadeStores.current?.add(container)
            let context = container.newBackgroundContext()
            let labels = try (0..<3).map { _ in try context.insertNewObject(forEntityName: "Label") }
            for number in 0..<8 {
                let ware = try context.insertNewObject(forEntityName: "Ware")
                try ware.setValue(Int64(number), forKey: "pieces")
                let own = labels.indices.filter { number >> $0 & 1 == 1 }.map { labels[$0] }
                try ware.setValue(own, forKey: "labels")
            }
            answers.append(try context.fetchRows(request).map { Array($0.dropFirst()) })
            try context.save()
            answers.append(try context.fetchRows(request).map { Array($0.dropFirst()) })
            let isAnswered = try context.explain(request).steps.contains { $0.operation == .view }
            #expect(isAnswered == !model.views.isEmpty)
        }
        #expect(answers[0].count == 4 && answers.allSatisfy { $0 == answers[0] }, "\(answers)")
    }

    @Test func explainSaysHowRowsOfAViewAreFound() throws {
        let sales = ViewDescription(
            name: "Sales", entityName: "Item", keys: [ViewKey("isSold"), ViewKey("day")],
            aggregates: [ViewAggregate("n", .count), ViewAggregate("p", .sum, "pieces")],
            orders: [ViewOrder("p", isAscending: false)])
        let context = try store([sales])
        for number in 0..<30 {
            let item = try context.insertNewObject(forEntityName: "Item")
            try item.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "day")
            try item.setValue(Int64(number), forKey: "pieces")
        }
        try context.save()
        func text(_ request: ViewFetchRequest) throws -> String { try context.explain(request).description }
        let all = ViewFetchRequest("Sales")
        #expect(try text(all).contains("view Sales, all rows  rows 30"))
        let top = all.sorted(by: "p", ascending: false).prefix(3)
        #expect(try text(top).contains("view Sales, in the order p descending  rows 3"))
        #expect(try context.fetchRows(top).map(\.last) == [.integer(29), .integer(28), .integer(27)])
        #expect(try text(all.sorted(by: "p").prefix(3)).contains("in the order p descending, backwards  rows 3"))
        #expect(try text(all.sorted(by: "n").prefix(3)).contains("sort by n"))
        let one = all.where(
            .and([.equal("isSold", .null), .equal("day", .date(Date(timeIntervalSinceReferenceDate: 4)))]))
        #expect(try text(one).contains("view Sales, one row by its key  rows 1"))
        #expect(try context.fetchRows(one).map(\.last) == [.integer(4)])
        #expect(
            try text(all.where(.equal("isSold", .boolean(true)))).contains("begin with those of the condition  rows 0"))
    }
}
