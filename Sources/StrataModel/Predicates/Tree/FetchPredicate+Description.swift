import Foundation

// Writes predicates in Core Data's format language. Constants without a literal there are written as CAST from text.
// Nested compound conditions are always in parentheses, so that reading the text gives the same tree, except for `and`
// and `or` with fewer than two parts, which the language cannot express.

extension FetchPredicate: CustomStringConvertible {
    /// The predicate in the format language; reading it gives the same tree.
    public var description: String {
        switch self {
        case .comparison(let comparison): comparison.description
        case .and(let parts): Self.join(parts, " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): Self.join(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part): "NOT \(part.descriptionAsPart)"
        case .constant(true): "TRUEPREDICATE"
        case .constant(false): "FALSEPREDICATE"
        }
    }

    private static func join(_ parts: [FetchPredicate], _ separator: String, empty: String) -> String {
        switch parts.count {
        case 0: empty
        case 1: parts[0].description
        default: parts.map(\.descriptionAsPart).joined(separator: separator)
        }
    }

    private var descriptionAsPart: String {
        switch self {
        case .and(let parts) where parts.count > 1: "(\(description))"
        case .or(let parts) where parts.count > 1: "(\(description))"
        case .and(let parts) where parts.count == 1: parts[0].descriptionAsPart
        case .or(let parts) where parts.count == 1: parts[0].descriptionAsPart
        default: description
        }
    }
}

extension ComparisonPredicate: CustomStringConvertible {
    /// The comparison in the format language.
    public var description: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .all: "ALL "
            case .any: "ANY "
            }
        return "\(prefix)\(left) \(`operator`)\(folding) \(right)"
    }
}

extension ComparisonPredicate.Operator: CustomStringConvertible {
    /// The operator in the format language.
    public var description: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}

extension StringFolding: CustomStringConvertible {
    /// The options after an operator: `[c]`, `[d]`, `[cd]`, or nothing.
    public var description: String {
        let letters = (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension AttributeValue {
    /// The value as a literal of the format language.
    package var formatLiteral: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): value ? "TRUE" : "FALSE"
        case .integer(let value): String(value)
        case .float(let value):
            value.isFinite ? "CAST(\(value.description), \"float\")" : Self.cast(value.description, "float")
        case .double(let value): Self.literal(value, writtenAs: value.description)
        case .decimal(let value): Self.cast(value.description, "NSDecimalNumber")
        case .string(let text): Self.quoted(text)
        case .date(let date) where date.timeIntervalSinceReferenceDate.isFinite:
            "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .date(let date): Self.cast(date.timeIntervalSinceReferenceDate.description, "NSDate")
        case .uuid(let id): Self.cast(id.uuidString, "NSUUID")
        case .url(let url): Self.cast(url.absoluteString, "NSURL")
        case .data(let data): Self.cast(data.base64EncodedString(), "NSData")
        case .blob(let blob):
            Self.cast("\(blob.sizeInBytes):\(blob.digest.base64EncodedString())", "blob")
        case .encrypted(let value): Self.cast(value.stored.base64EncodedString(), "encrypted")
        case .objectID(let id): Self.cast(id.description, "NSManagedObjectID")
        case .composite(let values):
            "{:"
                + values.keys.sorted().map { "\(Self.quoted($0)): \((values[$0] ?? .null).formatLiteral)" }
                .joined(separator: ", ") + "}"
        }
    }

    private static func literal(_ value: Double, writtenAs text: String) -> String {
        value.isFinite ? text : cast(text, "double")
    }

    private static func cast(_ text: String, _ type: String) -> String { "CAST(\(quoted(text)), \"\(type)\")" }

    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
