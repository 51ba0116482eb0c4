import Foundation
public import StrataModel

/// Names a section of results by a value of its objects.
///
/// Objects with equal names must be neighbours in the order of the results.
public struct SectionNaming: Sendable {
    private let make: @Sendable (AttributeValue, StringFolding, Schema) -> String

    private init(_ make: @escaping @Sendable (AttributeValue, StringFolding, Schema) -> String) { self.make = make }

    /// Names sections by a function of the value.
    public init(_ make: @escaping @Sendable (AttributeValue) -> String) {
        self.make = { value, _, _ in make(value) }
    }

    /// The value as Core Data's `description` of it: `0` and `1.5` for numbers, `1` for true, `2026-03-01 12:00:00 +0000`
    /// for a date, empty for nil, and such as `Movie/p12` for an object. It is folded like the values in the order of the
    /// results.
    public static let value = SectionNaming { value, folding, schema in folded(text(value, schema), folding) }

    /// The first letter in upper case; `#` for nil and for text that does not begin with a letter.
    ///
    /// Sort by the same property with `.caseInsensitive` and `.diacriticInsensitive`.
    public static let initial = SectionNaming { value, _, schema in
        guard let first = folded(text(value, schema), [.caseInsensitive, .diacriticInsensitive]).first, first.isLetter
        else {
            return "#"
        }
        return first.uppercased()
    }

    func name(_ value: AttributeValue, _ folding: StringFolding, _ schema: Schema) -> String {
        make(value, folding, schema)
    }

    private static func folded(_ text: String, _ folding: StringFolding) -> String {
        if folding.isEmpty { return text }
        var text = text
        var writer = ByteWriter()
        text.withUTF8 { TextFolding.fold($0, folding, into: &writer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func text(_ value: AttributeValue, _ schema: Schema) -> String {
        switch value {
        case .null, .composite, .blob, .encrypted: ""
        case .boolean(let value): value ? "1" : "0"
        case .integer(let value): "\(value)"
        case .float(let value): NumberText.text(Double(value), digits: [7, 9]) { Float($0) == value }
        case .double(let value): NumberText.text(value, digits: [16, 17]) { Double($0) == value }
        case .decimal(let value): "\(value)"
        case .string(let value): value
        case .date(let value): value.description
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .data(let value): value.base64EncodedString()
        case .objectID(let value): schema.name(of: value)
        }
    }
}

/// Writes a floating-point number as the description of an `NSNumber` does.
private enum NumberText {
    /// The number without needless zeros, in the first of the numbers of digits with which it reads back.
    static func text(_ value: Double, digits: [Int], _ readsBack: (String) -> Bool) -> String {
        if value == 0 { return "0" }
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        let texts = digits.lazy.map { String(format: "%.\($0)g", value) }
        return texts.first(where: readsBack) ?? "\(value)"
    }
}
