import Foundation

// Tests whether values have an attribute's type, and converts them without loss.

extension AttributeValue {
    /// Whether the value has the attribute's type; rules are not checked. Nil fits every attribute.
    package func fits(_ attribute: AttributeDescription) -> Bool {
        switch (attribute.type, self) {
        case (_, .null), (.undefined, _): true
        case (.integer16, .integer(let value)): Int16(exactly: value) != nil
        case (.integer32, .integer(let value)): Int32(exactly: value) != nil
        case (.integer64, .integer), (.decimal, .decimal), (.double, .double), (.float, .float): true
        case (.string, .string), (.boolean, .boolean), (.date, .date), (.uuid, .uuid), (.uri, .url): true
        case (.binaryData, .data), (.transformable, .data), (.objectID, .objectID): true
        case (.binaryData, .blob): attribute.allowsExternalBinaryDataStorage
        case (.composite, .composite) where attribute.elements.isEmpty: true
        case (.composite, .composite(let values)):
            values.allSatisfy { name, value in
                attribute.elements.first { $0.name == name }.map(value.fits) ?? false
            }
        default: false
        }
    }

    /// The value converted to a type without loss; nil if that is impossible.
    ///
    /// A number changes its kind if its value stays the same; but a Double becomes the nearest Float, and a Decimal the
    /// nearest floating-point number, because these rarely have exact equals. 0 and 1 become Booleans, and Booleans 0
    /// and 1.
    package func coerced(to type: AttributeType) -> AttributeValue? {
        switch (type, self) {
        case (_, .null), (.undefined, _), (.double, .double), (.integer64, .integer): self
        case (.integer16, _): wholeNumber.flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
        case (.integer32, _): wholeNumber.flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case (.integer64, _): wholeNumber.map(AttributeValue.integer)
        case (.decimal, _): decimalNumber.map(AttributeValue.decimal)
        case (.double, _): doubleNumber.map(AttributeValue.double)
        case (.float, _): floatNumber.map(AttributeValue.float)
        case (.boolean, .integer(let value)): value == 0 ? .boolean(false) : value == 1 ? .boolean(true) : nil
        case (.string, .string), (.boolean, .boolean), (.date, .date), (.uuid, .uuid), (.uri, .url): self
        case (.binaryData, .data), (.binaryData, .blob), (.transformable, .data): self
        case (.objectID, .objectID), (.composite, .composite): self
        default: nil
        }
    }

    private var wholeNumber: Int64? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): value
        case .float(let value): Int64(exactly: value)
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): Self.wholeNumber(value)
        default: nil
        }
    }

    private static func wholeNumber(_ value: Decimal) -> Int64? {
        guard !value.isNaN, value >= Decimal(Int64.min), value <= Decimal(Int64.max) else { return nil }
        var source = value
        var rounded = Decimal()
        NSDecimalRound(&rounded, &source, 0, .plain)
        return rounded == value ? Int64(rounded.description) : nil
    }

    private var decimalNumber: Decimal? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Decimal(value)
        case .float(let value): Self.decimal(Double(value), writtenAs: value.description)
        case .double(let value): Self.decimal(value, writtenAs: value.description)
        case .decimal(let value): value
        default: nil
        }
    }

    private static func decimal(_ value: Double, writtenAs text: String) -> Decimal? {
        guard value == 0 || (value.magnitude >= 1e-100 && value.magnitude < 1e120) else { return nil }
        return Decimal(string: text)
    }

    private var doubleNumber: Double? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Double(exactly: value)
        case .float(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.description)
        default: nil
        }
    }

    private var floatNumber: Float? {
        switch self {
        case .integer(let value): return Float(exactly: value)
        case .float(let value): return value
        default:
            guard let double = doubleNumber else { return nil }
            let float = Float(double)
            return float.isInfinite && !double.isInfinite ? nil : float
        }
    }
}
