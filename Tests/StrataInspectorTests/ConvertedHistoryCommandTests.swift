import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataInspector

/// Listings and pages of a store whose migration converted a value: an order's `total` of 12 became the text `sum`.
@Suite struct ConvertedHistoryCommandTests {
    private let directory = FileManager.default.temporaryDirectory.appending(
        component: "converted-\(UUID().uuidString).strata", directoryHint: .isDirectory)
    private var path: String { directory.path(percentEncoded: false).trimmingSuffix("/") }

    init() throws {
        for (property, type) in [("total", AttributeType.integer32), ("sum", .string)] {
            let store = try Store.open(.directory(directory), model: Self.model(property, type, from: "total"))
            defer { store.close() }
            let context = try PersistentContainer(over: store).newBackgroundContext()
            guard type == .integer32 else { continue }
            let order = try context.insertNewObject(forEntityName: "Order")
            for total in [11, 12] {
                try order.setValue(Int32(total), forKey: "total")
                try context.save()
            }
        }
    }

    @Test func everyListingShowsWhatTheValueWas() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let commands = [
            ["log", "--object", "Order/p1"], ["log", "--property", "sum"], ["show", "Order/p1", "--history"],
            ["diff", "t3"],
        ]
        for words in commands {
            let result = try Tool.run([words[0], path] + words.dropFirst())
            #expect(result.output.contains("sum: 12 -> \"12\"\n"), "\(words): \(result)")
            if words[0] != "diff" { #expect(result.output.contains("sum: 11 -> 12\n"), "\(words): \(result)") }
        }
        #expect(try Tool.run("diff", path, "t2").output.contains("sum: 11 -> \"12\"\n"))
        #expect(try Tool.run("diff", path, "t2", "t3").output.contains("sum: 11 -> 12\n"))
        let json = try Tool.run("log", path, "--property", "sum", "--json").output
        #expect(
            json.split(separator: "\n").last?.contains("\"sum\":{\"after\":\"12\",\"before\":12}") == true, "\(json)")
        let events = try Tool.run("export", path, "--form", "cloudevents").output
        #expect(events.contains("\"sum\":{\"after\":\"12\",\"before\":12}"), "\(events)")
    }

    @Test func studioShowsWhatTheValueWas() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let studio = try Studio(paths: [path])
        let name = try #require(studio.names.first)
        func page(_ path: [String]) throws -> JSONNode {
            try JSONNode(studio.answer(StudioAddress(path: [name] + path, query: [:])).body)
        }
        let object = try page(["object", "Order", "p1"])
        #expect(object["values"][0]["origin"]["before"]["text"].text == "12")
        let newest = object["history"][0]["events"][0]["changes"][0]
        #expect(newest["property"].text == "sum" && newest["before"]["text"].text == "12")
        let transaction = try page(["transaction", "5"])["events"].items.flatMap { $0["changes"].items }
        #expect(transaction.first?["before"]["text"].text == "12")
    }

    /// A moment has the names and types of its time, whatever has become of them.
    @Test func aMomentIsShownThroughItsModel() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try Tool.run("show", path, "Order/p1", "--at", "t2").output.contains("  total  11\n"))
        #expect(try Tool.run("show", path, "Order/p1").output.contains("  sum  \"12\"\n"))
    }

    /// So has one before a model that does nothing but rename.
    @Test func aMomentBeforeARenameIsShownThroughItsModel() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try Store.open(.directory(directory), model: Self.model("amount", .string, from: "sum")).close()
        for (moment, name) in [("t2", "total"), ("t4", "sum"), ("now", "amount")] {
            let shown = try Tool.run("show", path, "Order/p1", "--at", moment)
            #expect(shown.output.contains("  \(name)  "), "\(moment): \(shown)")
        }
    }

    private static func model(
        _ property: String, _ type: AttributeType, from former: String
    ) throws -> ManagedObjectModel {
        let attribute = AttributeDescription(name: property, type: type, isOptional: true, renamingIdentifier: former)
        return try ManagedObjectModel(entities: [EntityDescription(name: "Order", properties: [.attribute(attribute)])])
    }
}
