import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// A store of what listings stumble over: values at the edge of their types, names and text beyond ASCII, inherited
/// entities, nil, large values, objects that are gone, two models, tags and subscriptions.
final class AwkwardStore {
    let directory: URL
    /// An object with every attribute, and one with none of those that may be nil.
    private(set) var full = ""
    private(set) var bare = ""

    var path: String { directory.path(percentEncoded: false).trimmingSuffix("/") }

    /// - Parameter isFilled: else the store has its models and nothing besides.
    init(isFilled: Bool = true) throws {
        directory = FileManager.default.temporaryDirectory.appending(
            component: "awkward \(UUID().uuidString).strata", directoryHint: .isDirectory)
        let clock = TestClock()
        var options = StoreOptions()
        options.clock = { clock.next() }
        try Store.open(.directory(directory), model: try Self.model(version: 1), options: options).close()
        let store = try Store.open(.directory(directory), model: try Self.model(version: 2), options: options)
        defer { store.close() }
        if isFilled { try fill(try PersistentContainer(over: store)) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static let text = "q\"\u{301}uo'te,; \\back\r\nline\ttab \u{7F}\u{1B}[2J e\u{301} 漢字 \u{202E}right 👩🏽‍🚀 \u{2028}"

    private func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        context.transactionAuthor = "Jürgen \"J\" O’Neil"
        let box = try context.insertNewObject(forEntityName: "Kiste")
        try box.setValue("", forKey: "name")
        let tags = try ["a", "ß\n"].map { name in
            let tag = try context.insertNewObject(forEntityName: "Tag")
            try tag.setValue(name, forKey: "name")
            return tag
        }
        let first = try context.insertNewObject(forEntityName: "Größe")
        for (name, value) in Self.values { try first.setValue(value, forKey: name) }
        try first.setValue(box, forKey: "kiste")
        try first.setValue(tags, forKey: "tags")
        let second = try context.insertNewObject(forEntityName: "Größe")
        try second.setValue("second", forKey: "naïve")
        let third = try context.insertNewObject(forEntityName: "Klein")
        try third.setValue("third", forKey: "naïve")
        try third.setValue(box, forKey: "kiste")
        context.transactionReason = "all at once;\n\"two\" lines"
        try context.save()
        full = "Größe/p\(first.objectID.row)"
        bare = "Größe/p\(second.objectID.row)"
        context.transactionAuthor = nil
        context.transactionReason = nil
        try first.setValue(-Double.infinity, forKey: "double")
        try second.setValue(Self.text, forKey: "naïve")
        try second.setValue([tags[1]], forKey: "tags")
        try context.save()
        context.transactionAuthor = "eva"
        context.delete(third)
        try context.save()
        try container.setTag("vor dem „Import“", at: .transaction(TransactionNumber(rawValue: 3)))
        _ = try container.subscription(named: "mirror")
    }

    private static var values: [(String, Any)] {
        [
            ("naïve", text), ("i16", Int16.min), ("i32", Int32.max), ("i64", Int64.min),
            ("decimal", Decimal(string: "-12345678901234567890123456789.000000001") ?? 0),
            ("double", Double.nan), ("float", Float.infinity), ("flag", true),
            ("date", Date(timeIntervalSince1970: 1_700_000_000.123_456)),
            ("uuid", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
            ("url", URL(string: "https://example.org/a?b=c&d=%20#e") ?? URL(filePath: "/")),
            ("bytes", Data([0, 255, 34, 92])), ("blob", Data(repeating: 7, count: 300_000)),
            ("maß", ["länge": 1.5, "name": "\"x\""] as [String: Any]),
        ]
    }

    static func model(version: Int) throws -> ManagedObjectModel {
        func plain(_ name: String, _ type: AttributeType) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true))
        }
        let measures = AttributeDescription(
            name: "maß", type: .composite, isOptional: true,
            elements: [
                AttributeDescription(name: "länge", type: .double, isOptional: true),
                AttributeDescription(name: "name", type: .string, isOptional: true),
            ])
        let many: [PropertyDescription] = [
            plain("i16", .integer16), plain("i32", .integer32), plain("i64", .integer64), plain("decimal", .decimal),
            plain("double", .double), plain("float", .float), plain("flag", .boolean), plain("date", .date),
            plain("uuid", .uuid), plain("url", .uri), plain("bytes", .binaryData), .attribute(measures),
            .attribute(
                AttributeDescription(
                    name: "blob", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
            .relationship(
                RelationshipDescription(
                    name: "tags", destinationEntityName: "Tag", inverseName: "dinge", isToMany: true)),
        ]
        let name = AttributeDescription(
            name: "naïve", type: .string, defaultValue: .string("ñ"),
            validationRules: [.length(minimum: 1, maximum: 99)])
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Ding", isAbstract: true,
                properties: [
                    .attribute(name),
                    .relationship(
                        RelationshipDescription(
                            name: "kiste", destinationEntityName: "Kiste", inverseName: "inhalt")),
                ]),
            EntityDescription(
                name: "Größe", superentityName: "Ding", properties: many,
                indexes: [FetchIndexDescription(name: "byDate", elements: [FetchIndexElement("date")])]),
            EntityDescription(name: "Klein", superentityName: "Ding"),
            EntityDescription(
                name: "Kiste",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "inhalt", destinationEntityName: "Ding", inverseName: "kiste", isToMany: true,
                            isOrdered: true)),
                ] + (version == 1 ? [] : [plain("neu", .string)]),
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "dinge", destinationEntityName: "Größe", inverseName: "tags", isToMany: true)),
                ], uniquenessConstraints: [["name"]]),
        ])
    }
}
