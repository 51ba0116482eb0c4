import Foundation
import StrataModel

/// The type of value at the end of a path, as far as comparisons are concerned.
enum ComparedType: Sendable, Hashable {
    case integer, floatingPoint(isFloat: Bool), decimal, boolean, date, text, url, uuid, data, object, composite
    /// Data that may be stored outside the row, which can only be compared with nil.
    case outside
    /// An encrypted value of any type, which can only be compared for equality.
    case encrypted

    init(_ end: ResolvedPath.End) {
        switch end {
        case .object: self = .object
        case .count: self = .integer
        case .attribute(_, let attribute) where attribute.isEncrypted: self = .encrypted
        case .attribute(_, let attribute), .element(_, _, let attribute): self.init(attribute)
        }
    }

    /// The type of the values themselves, encrypted or not.
    init(_ attribute: AttributeDescription) {
        self =
            switch attribute.type {
            case .integer16, .integer32, .integer64: .integer
            case .decimal: .decimal
            case .double: .floatingPoint(isFloat: false)
            case .float: .floatingPoint(isFloat: true)
            case .string: .text
            case .boolean: .boolean
            case .date: .date
            case .uuid: .uuid
            case .uri: .url
            case .objectID: .object
            case .composite: .composite
            case .binaryData: attribute.allowsExternalBinaryDataStorage ? .outside : .data
            case .transformable: .data
            case .undefined: .outside
            }
    }

    var isNumber: Bool {
        switch self {
        case .integer, .floatingPoint, .decimal, .boolean: true
        default: false
        }
    }

    var isText: Bool { self == .text || self == .url }

    /// Whether values have an order.
    var isOrdered: Bool {
        switch self {
        case .composite, .outside, .encrypted: false
        default: true
        }
    }

    /// Whether values of both types can be equal.
    func isComparable(to other: ComparedType) -> Bool {
        self == other || isNumber && other.isNumber || isText && other.isText
    }

    /// The constant in this type; nil if it cannot be compared with values of the type.
    ///
    /// A Double that is compared with a Float becomes the nearest Float, since a literal cannot be written as one.
    /// Other numbers keep their value, and are nil where the type has no equal number. Integers are not rounded here:
    /// `WholeBound` decides the meaning of `< 5.5` for them.
    func constant(_ value: AttributeValue) -> AttributeValue? {
        switch (self, value) {
        case (_, .null): value
        case (.integer, _), (.boolean, _): value.isNumber || value.isBoolean ? value : nil
        case (.floatingPoint(let isFloat), _): value.double(isFloat: isFloat).map(AttributeValue.double)
        case (.decimal, _): value.coerced(to: .decimal)
        case (.date, .date), (.uuid, .uuid), (.data, .data), (.object, .objectID), (.composite, .composite): value
        case (.text, .string), (.url, .url): value
        case (.text, .url(let url)): .string(url.absoluteString)
        case (.url, .string(let text)): .string(text)
        case (.date, .string(let text)): Date(iso8601Text: text).map(AttributeValue.date)
        case (.uuid, .string(let text)): UUID(uuidString: text).map(AttributeValue.uuid)
        default: nil
        }
    }

    /// Advice on writing a constant of the type instead of text; empty where no text is right.
    var advice: String {
        self == .date ? " Write a date as '2026-11-21' or '2026-11-21T18:30:00Z', or pass a Date." : ""
    }

    var name: String {
        switch self {
        case .integer, .decimal, .floatingPoint: "a number"
        case .boolean: "a boolean"
        case .date: "a date"
        case .text: "a string"
        case .url: "a URL"
        case .uuid: "a UUID"
        case .data: "binary data"
        case .object: "an object"
        case .composite: "a composite"
        case .outside: "data stored outside the row"
        case .encrypted: "encrypted"
        }
    }
}

extension AttributeValue {
    var isBoolean: Bool { if case .boolean = self { true } else { false } }

    /// The Double, or the Double of a Float, that is compared like the number.
    fileprivate func double(isFloat: Bool) -> Double? {
        func kept(_ double: Double) -> Double { isFloat ? Double(Float(double)) : double }
        switch self {
        case .boolean(let value): return value ? 1 : 0
        case .integer(let value):
            let double = kept(Double(value))
            return Int64(exactly: double) == value ? double : nil
        case .float(let value): return Double(value)
        case .double(let value): return kept(value)
        case .decimal(let value):
            guard let number = Double(value.description) else { return nil }
            let double = kept(number)
            let text = isFloat ? Float(double).description : double.description
            return Decimal(of: double, writtenAs: text) == value ? double : nil
        default: return nil
        }
    }
}

/// A number that integers are compared with, as the integer at or below it.
enum WholeBound {
    case belowAll, aboveAll
    case at(Int64, isExact: Bool)
    /// NaN.
    case nowhere

    init(_ value: AttributeValue) {
        switch value {
        case .boolean(let value): self = .at(value ? 1 : 0, isExact: true)
        case .integer(let value): self = .at(value, isExact: true)
        case .float(let value): self.init(Double(value))
        case .double(let value): self.init(value)
        case .decimal(let value): self.init(value)
        default: self = .nowhere
        }
    }

    private init(_ value: Double) {
        if value.isNaN {
            self = .nowhere
        } else if value >= 0x1p63 {
            self = .aboveAll
        } else if value < -0x1p63 {
            self = .belowAll
        } else {
            self = .at(Int64(value.rounded(.down)), isExact: value == value.rounded(.down))
        }
    }

    private init(_ value: Decimal) {
        var source = value
        var floor = Decimal()
        NSDecimalRound(&floor, &source, 0, .down)
        if value.isNaN {
            self = .nowhere
        } else if value > Decimal(Int64.max) {
            self = .aboveAll
        } else if value < Decimal(Int64.min) {
            self = .belowAll
        } else if let whole = Int64(floor.description) {
            self = .at(whole, isExact: floor == value)
        } else {
            self = .nowhere
        }
    }

    /// The integers for which the comparison with the number holds; nil if there are none.
    func range(_ comparison: ComparisonPredicate.Operator) -> ClosedRange<Int64>? {
        let all = Int64.min...Int64.max
        switch (self, comparison) {
        case (.nowhere, _): return nil
        case (.belowAll, .greaterThan), (.belowAll, .greaterThanOrEqualTo): return all
        case (.aboveAll, .lessThan), (.aboveAll, .lessThanOrEqualTo): return all
        case (.belowAll, _), (.aboveAll, _): return nil
        case (.at(let value, let isExact), .equalTo): return isExact ? value...value : nil
        case (.at(let value, _), .lessThanOrEqualTo): return Int64.min...value
        case (.at(let value, _), .greaterThan): return value == .max ? nil : value + 1...Int64.max
        case (.at(let value, true), .lessThan): return value == .min ? nil : Int64.min...value - 1
        case (.at(let value, false), .lessThan): return Int64.min...value
        case (.at(let value, true), .greaterThanOrEqualTo): return value...Int64.max
        case (.at(let value, false), .greaterThanOrEqualTo): return value == .max ? nil : value + 1...Int64.max
        default: return nil
        }
    }
}

extension ClosedRange<Double> {
    /// The numbers for which the comparison with `value` holds; nil if there are none.
    init?(_ comparison: ComparisonPredicate.Operator, _ value: Double) {
        guard !value.isNaN else { return nil }
        switch comparison {
        case .equalTo: self = value...value
        case .lessThanOrEqualTo: self = -Double.infinity...value
        case .greaterThanOrEqualTo: self = value...Double.infinity
        case .lessThan where value > -.infinity: self = -Double.infinity...value.nextDown
        case .greaterThan where value < .infinity: self = value.nextUp...Double.infinity
        default: return nil
        }
    }
}
