import Foundation

@testable import StrataModel

/// Computes the rows of a view from plain values, by the definition alone.
struct PlainView {
    let view: ViewDescription
    private var groups: [[String]: (keys: [AttributeValue], objects: [[String: AttributeValue]])] = [:]

    init(_ view: ViewDescription, _ objects: [[String: AttributeValue]]) throws {
        self.view = view
        for object in objects.flatMap({ Self.expanded($0, view) }) where Self.meets(object, view) {
            let keys = view.keys.map { Self.key($0, Self.normal(object[$0.keyPath] ?? .null)) }
            groups[keys.map { "\($0)" }, default: (keys, [])].objects.append(object)
        }
        if groups.isEmpty, view.keys.isEmpty { groups[[]] = ([], []) }
    }

    /// The object once for each member of a to-many that is a key; as a composite, a to-many has its members.
    private static func expanded(
        _ object: [String: AttributeValue], _ view: ViewDescription
    ) -> [[String: AttributeValue]] {
        guard let key = view.keys.first(where: { ["tags", "works"].contains($0.keyPath) }) else { return [object] }
        guard case .composite(let members)? = object[key.keyPath], !members.isEmpty else {
            return [object.merging([key.keyPath: .null]) { $1 }]
        }
        return members.values.map { member in object.merging([key.keyPath: member]) { $1 } }
    }

    /// The two conditions of these tests.
    private static func meets(_ object: [String: AttributeValue], _ view: ViewDescription) -> Bool {
        if view.name == "ByCountry" {
            guard case .integer(let stars)? = object["studio.stars"] else { return false }
            return stars > 1
        }
        return view.predicate == nil || object["released"] == .boolean(true) && object["year", default: .null] != .null
    }

    /// Keys are in the normal form, and there is no negative zero.
    static func normal(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .string(let text): .string(text.precomposedStringWithCanonicalMapping)
        case .double(let number) where number == 0: .double(0)
        // Whose elements a description may print in any order.
        case .composite(let elements):
            .string(elements.sorted { $0.key < $1.key }.map { "\($0.key) \(normal($0.value))" }.joined(separator: ", "))
        default: value
        }
    }

    /// A text for each row, sorted.
    func rows() throws -> [String] {
        try groups.values.map { group in
            let results = try view.aggregates.map { try Self.result($0, group.objects) }
            return (group.keys + results.map(Self.normal)).map { "\($0)" }.joined(separator: " | ")
        }.sorted()
    }

    /// Uses Foundation's calendar, and whole thousandths for buckets.
    private static func key(_ key: ViewKey, _ value: AttributeValue) -> AttributeValue {
        switch (key.function, value) {
        case (nil, _), (_, .null): return value
        case (.calendar(let part, let timeZone)?, .date(let date)):
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = TimeZone(identifier: timeZone) ?? .gmt
            let components = calendar.dateComponents([.year, .month, .day, .hour], from: date)
            let found: Int? =
                switch part {
                case .year: components.year
                case .month: components.month
                case .day: components.day
                case .hour: components.hour
                }
            return .integer(Int64(found ?? -1))
        case (.bucket(let width)?, .integer(let number)):
            return .integer(Int64((Double(number) / width).rounded(.down) * width))
        case (.bucket(let width)?, .decimal(let number)):
            let thousandths = NSDecimalNumber(decimal: number * 1000).doubleValue.rounded()
            return .decimal(Decimal((thousandths / (width * 1000)).rounded(.down) * width))
        case (.bucket(let width)?, .double(let number)): return .double((number / width).rounded(.down) * width)
        default: return .null
        }
    }

    /// The values of the first or last objects.
    private static func ordered(
        _ aggregate: ViewAggregate, _ objects: [[String: AttributeValue]]
    ) -> AttributeValue {
        let path = aggregate.orderPath ?? ""
        func precedes(_ left: [String: AttributeValue], _ right: [String: AttributeValue]) -> Bool {
            for key in [path, "SELF"] {
                switch (left[key] ?? .null).order(to: right[key] ?? .null) {
                case .ascending?: return true
                case .descending?: return false
                default: continue
                }
            }
            return false
        }
        var sorted = objects.filter { !($0[path] ?? .null).isNull }.sorted(by: precedes)
        if aggregate.function == .last { sorted.reverse() }
        let values = sorted.prefix(aggregate.limit ?? 1).map { $0[aggregate.keyPath ?? "SELF"] ?? .null }
        guard aggregate.limit != nil else { return values.first ?? .null }
        return .composite(
            Dictionary(uniqueKeysWithValues: values.enumerated().map { ("\($0.offset + 1)", $0.element) }))
    }

    private static func result(
        _ aggregate: ViewAggregate, _ objects: [[String: AttributeValue]]
    ) throws -> AttributeValue {
        if let projection = aggregate.projection {
            let keys = objects.map { object in
                FilmViews.bagKey(projection.inputs.map { normal(object[$0] ?? .null) })
            }
            return .composite(Dictionary(grouping: keys, by: \.self).mapValues { .integer(Int64($0.count)) })
        }
        if aggregate.function == .first || aggregate.function == .last { return ordered(aggregate, objects) }
        guard let path = aggregate.keyPath else { return .integer(Int64(objects.count)) }
        let values = objects.compactMap { $0[path] }.filter { !$0.isNull }
        switch aggregate.function {
        case .first, .last, .projection: return .null
        case .count: return .integer(Int64(values.count))
        case .countDistinct: return .integer(Int64(Set(values.map { "\(normal($0))" }).count))
        case .min: return values.min { $0.order(to: $1) == .ascending } ?? .null
        case .max: return values.max { $0.order(to: $1) == .ascending } ?? .null
        case .sum: return sum(values, path)
        case .average: return mean(of: sum(values, path), count: values.count)
        }
    }

    private static func mean(of sum: AttributeValue, count: Int) -> AttributeValue {
        guard count > 0 else { return .null }
        return switch sum {
        case .integer(let whole): .double(Double(whole) / Double(count))
        case .decimal(let number): .decimal(number.divided(by: Decimal(count)))
        case .double(let number): .double(number / Double(count))
        default: .null
        }
    }

    /// Floating-point numbers are summed from the largest exponent down in 128 bits, which is exact for these tests.
    private static func sum(_ values: [AttributeValue], _ path: String) -> AttributeValue {
        var whole: Int64 = 0
        var decimal = Decimal(0)
        var units: Int128 = 0
        for value in values {
            switch value {
            case .integer(let number): whole += number
            case .decimal(let number): decimal += number
            case .double(let number): units += Int128(number * 0x1p60)
            case .float(let number): units += Int128((Double(number.description) ?? 0) * 0x1p60)
            default: break
            }
        }
        switch path {
        case "gross": return .decimal(decimal)
        case "rating", "weight": return .double(scalbn(Double(units), -60))
        default: return .integer(whole)
        }
    }
}
