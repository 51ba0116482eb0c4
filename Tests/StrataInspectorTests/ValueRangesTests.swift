import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataInspector

/// Each number and date is in one range of a histogram, and the filter of a range finds what its bar counts.
@Suite struct ValueRangesTests {
    /// Holds the conditions, as text that is read again, against the values.
    private func check(_ values: [AttributeValue], makesRanges: Bool = true, _ note: String = "") throws {
        let list = ValueRanges(values.map { ($0, 1) }).list
        #expect(values.allSatisfy { $0.order(to: $0) == .same }, "\(note)")
        if makesRanges { #expect(list.isEmpty == false, "\(note) \(values)") }
        if list.isEmpty { return }
        #expect(list.count > 1 && list.count <= 30, "\(note) \(list.count)")
        #expect(list.map(\.count).reduce(0, +) == values.count, "\(note) \(values)")
        for range in list {
            let condition = try FetchPredicate(format: range.condition(of: "n").description)
            let found = try values.filter { value in
                try condition.evaluate { (_: String) throws(StrataError) -> AttributeValue in value }
            }
            #expect(found.count == range.count, "\(note) \(condition.description) \(values)")
        }
    }

    private static func decimal(_ text: String) -> AttributeValue { .decimal(Decimal(string: text) ?? .nan) }

    private static func doubles(_ count: Int, _ make: (Double) -> Double) -> [AttributeValue] {
        (0..<count).map { .double(make(Double($0))) }
    }

    private static func integers(_ count: Int64, _ make: (Int64) -> Int64) -> [AttributeValue] {
        (0..<count).map { .integer(make($0)) }
    }

    private static func floats(_ count: Int, _ make: (Float) -> Float) -> [AttributeValue] {
        (0..<count).map { .float(make(Float($0))) }
    }

    private static func decimals(_ count: Int, _ make: (Int) -> String) -> [AttributeValue] {
        (0..<count).map { decimal(make($0)) }
    }

    private static func dates(_ count: Int, _ make: (Double) -> Double) -> [AttributeValue] {
        (0..<count).map { .date(Date(timeIntervalSinceReferenceDate: make(Double($0)))) }
    }

    private static let widest = String(repeating: "9", count: 38) + "e126"

    private static func cases() -> [(String, [AttributeValue])] {
        [
            ("1.7 to 2.7", doubles(21) { 1.7 + $0 * 0.05 }),
            ("tenths", doubles(60) { ($0 + 3) / 10 }),
            ("smallest doubles", doubles(21) { $0 * Double.leastNonzeroMagnitude }),
            ("greatest doubles", doubles(20) { 1.7e308 * (1 - $0 / 10) }),
            ("up to the greatest", [.double(.greatestFiniteMagnitude), .double(0), .double(1e308)]),
            ("integers at 2^53", integers(30) { 9_007_199_254_740_992 + $0 }),
            ("the last integers", integers(20) { Int64.max - $0 }),
            ("the last and the first", integers(20) { Int64.max - 3 * $0 } + [.integer(.min)]),
            ("near 8e18", integers(20) { 8_070_450_532_247_928_832 + 60 * $0 }),
            ("floats one apart", floats(20) { 1 + $0 * 0x1p-23 }),
            ("greatest floats", floats(40) { 3.4e38 * (1 - $0 / 20) }),
            ("powers of ten", decimals(38) { "1" + String(repeating: "0", count: $0) }),
            ("beyond 1e38", [decimal(widest), decimal("-" + widest)] + decimals(20) { "\($0)" }),
            ("the widest", decimals(20) { String(widest.dropFirst($0)) } + [decimal("-" + widest)]),
            ("decimals near 1e-99", decimals(19) { "\($0 + 1)e-99" }),
            ("decimal tenths", decimals(60) { "\($0 + 3)e-1" }),
            ("32 digits", decimals(20) { "1.000000000000000000000000000000\($0 + 10)" }),
            ("near 1e20", decimals(50) { "\(100_000_000_000_000 + $0)00300" }),
            ("the ends of time", [.date(.distantPast), .date(.distantFuture)] + dates(9) { 8e8 + $0 * 86_400 }),
            ("before our era", dates(9) { -2e11 + $0 * 2e10 }),
            ("milliseconds", dates(20) { 8e8 + $0 / 1000 }),
            ("beyond calendars", dates(20) { 1e15 + $0 * 1e12 }),
        ]
    }

    @Test func aBarAndItsFilterAgree() throws {
        for (note, values) in Self.cases() { try check(values, note) }
    }

    @Test func roundNumbersAreTheirShortestText() {
        let list = ValueRanges(Self.doubles(21) { 1.7 + $0 * 0.05 }.map { ($0, 1) }).list
        #expect(list.map(\.from).prefix(3) == [.double(1.7), .double(1.8), .double(1.9)])
    }

    @Test func theLastIntegerIsInAClosedRange() throws {
        let last = try #require(ValueRanges(Self.integers(20) { Int64.max - $0 }.map { ($0, 1) }).list.last)
        #expect(last.isClosed && last.to == .integer(.max))
    }

    @Test(arguments: RandomTesting.seeds) func everyValueOfAnyTypeIsInOneRange(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            let type = Int.random(in: 0..<5, using: &generator)
            let count = Int.random(in: 2...30, using: &generator)
            let exponent = Int.random(in: -300...300, using: &generator)
            let start = Double.random(in: -2...2, using: &generator) * pow(2, Double(exponent))
            let length = start.magnitude * pow(2, Double.random(in: -53...20, using: &generator))
            let whole = Int64.random(in: .min ... .max, using: &generator)
            let shift = Int64.random(in: 0..<62, using: &generator)
            let power = Int.random(in: -128...100, using: &generator)
            let digits = Int.random(in: 1...38, using: &generator)
            var values: [AttributeValue] = []
            for _ in 0..<count {
                let part = start + Double.random(in: 0...1, using: &generator) * length
                switch type {
                case 0: values.append(.integer(whole &+ (Int64.random(in: 0 ... .max, using: &generator) >> shift)))
                case 1: values.append(.double(part))
                case 2: values.append(.float(Float(part.significand * pow(2, Double(Int(part.exponent) % 127)))))
                case 3:
                    let text = (0..<digits).map { _ in String(Int.random(in: 0...9, using: &generator)) }.joined()
                    let sign = Bool.random(using: &generator) ? "-" : ""
                    values.append(Self.decimal("\(sign)\(text)e\(power)"))
                default: values.append(.date(Date(timeIntervalSinceReferenceDate: part.remainder(dividingBy: 1e13))))
                }
            }
            let known = values.filter { value in
                if case .decimal(let decimal) = value, decimal.isNaN { return false }
                return true
            }
            try check(known, makesRanges: false, "seed \(seed)")
        }
    }

    // MARK: In a store

    /// Attributes of each type, each with an index, which compares keys instead of values.
    private static let attributes: [(name: String, type: String, values: [AttributeValue])] = [
        ("i", "Integer 64", integers(20) { Int64.max - 3 * $0 } + [.integer(.min)]),
        ("j", "Integer 64", integers(20) { 9_007_199_254_740_992 + $0 }),
        ("d", "Double", doubles(21) { 1.7 + $0 * 0.05 }),
        ("f", "Float", floats(20) { 1 + $0 * 0x1p-23 }),
        ("m", "Decimal", decimals(20) { "1.000000000000000000000000000000\($0 + 10)" }),
        ("n", "Decimal", decimals(20) { "\($0 + 1)e-99" }),
        ("t", "Date", dates(20) { 8e8 + $0 / 1000 }),
        ("u", "Date", dates(9) { -2e11 + $0 * 2e10 } + dates(9) { 8e8 + $0 }),
    ]

    @Test(arguments: [false, true]) func theFilterOfABarFindsItsCountInAStore(isIndexed: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "ranges-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appending(component: "M.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let properties = Self.attributes.map { attribute in
            let index = """
                <fetchIndex name="by_\(attribute.name)"><fetchIndexElement property="\(attribute.name)" type="Binary" \
                order="ascending"/></fetchIndex>
                """
            return "<attribute name=\"\(attribute.name)\" optional=\"YES\" attributeType=\"\(attribute.type)\"/>"
                + (isIndexed ? index : "")
        }
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="E">
            \(properties.joined(separator: "\n"))
            </entity></model>
            """
        try Data(text.utf8).write(to: model.appending(component: "contents"))
        let store = folder.appending(component: "S.strata").path(percentEncoded: false)
        let made = try Tool.run("create", store, "--model", model.path(percentEncoded: false))
        #expect(made.exitCode == 0, "\(made.error)")
        let rows = Self.attributes.flatMap { attribute in
            attribute.values.map { value -> String in
                if case .date(let date) = value {
                    return "{\"\(attribute.name)\":\"\(DateText.exact(date))\"}"
                }
                return "{\"\(attribute.name)\":\"\(ValueText.exact(value) { "\($0)" })\"}"
            }
        }
        let file = folder.appending(component: "rows.ndjson")
        try Data(rows.joined(separator: "\n").utf8).write(to: file)
        let added = try Tool.run("import", store, "E", file.path(percentEncoded: false))
        #expect(added.exitCode == 0, "\(added.error)")
        let studio = try Studio(paths: [store])
        let name = try #require(studio.names.first)
        func page(_ path: [String], _ query: [String: String]) throws -> JSONNode {
            try JSONNode(studio.answer(StudioAddress(path: [name] + path, query: query)).body)
        }
        for attribute in Self.attributes {
            let query = ["where": "\(attribute.name) != nil"]
            let ranges = try page(["facet", "E", attribute.name], query)["ranges"].items
            #expect(ranges.compactMap { $0["count"].number }.reduce(0, +) == Double(attribute.values.count))
            for range in ranges {
                let condition = try #require(range["condition"].text)
                let found = try page(["objects", "E"], ["where": condition])["count"].number
                #expect(found == range["count"].number, "\(condition)")
            }
        }
    }
}
