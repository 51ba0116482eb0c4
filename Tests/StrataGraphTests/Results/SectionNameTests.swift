import Foundation
import StrataGraph
import StrataModel
import Testing

/// Sections are named as Core Data names them: after the `description` of the value at the key path.
@Suite(.verifiesStores) struct SectionNameTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 86_400)
    private static let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID()

    struct Example: Sendable, CustomTestStringConvertible {
        let type: AttributeType
        let values: [AttributeValue]
        let names: [String]

        var testDescription: String { "\(type)" }
    }

    static let examples: [Example] = [
        Example(
            type: .integer64, values: [.null, .integer(-3), .integer(0), .integer(12)], names: ["", "-3", "0", "12"]),
        Example(
            type: .double,
            values: [-2.5, 0, 0.1, 0.1 + 0.2, 1, 1.5, 1_234_567, 1e15, 1e16, 1e20, .infinity].map { .double($0) },
            names: [
                "-2.5", "0", "0.1", "0.30000000000000004", "1", "1.5", "1234567", "1000000000000000", "1e+16", "1e+20",
                "+infinity",
            ]),
        Example(
            type: .float, values: [-1, 0.1, 2.5, 16_777_216].map { .float($0) },
            names: ["-1", "0.1", "2.5", "16777216"]),
        Example(
            type: .decimal, values: [.null, .decimal(0), .decimal(Decimal(string: "1.50") ?? 0), .decimal(1000)],
            names: ["", "0", "1.5", "1000"]),
        Example(type: .boolean, values: [.null, .boolean(false), .boolean(true)], names: ["", "0", "1"]),
        Example(
            type: .date, values: [.null, .date(date), .date(date.addingTimeInterval(60))],
            names: ["", "2001-01-02 00:00:00 +0000", "2001-01-02 00:01:00 +0000"]),
        Example(type: .uuid, values: [.null, .uuid(uuid)], names: ["", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]),
        Example(type: .string, values: [.null, .string(""), .string("a")], names: ["", "a"]),
        Example(
            type: .uri, values: [.url(URL(fileURLWithPath: "/a"))], names: ["file:///a"]),
    ]

    @Test(arguments: examples) func sectionsAreNamedByTheDescriptionOfTheValue(example: Example) throws {
        let container = try Porting.container([
            EntityDescription(name: "Thing", properties: [Porting.attribute("key", example.type)])
        ])
        let context = container.newBackgroundContext()
        for value in example.values + example.values {
            try context.make("Thing").setValue(value.isNull ? nil : value, forKey: "key")
        }
        try context.save()
        let controller = FetchedResultsController(
            fetchRequest: try FetchRequest<ManagedObject>(entityName: "Thing", sortedBy: [SortDescription("key")]),
            context: context, sectionNameKeyPath: "key")
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == example.names)
        #expect(controller.sections?.map(\.numberOfObjects).reduce(0, +) == example.values.count * 2)
    }
}
