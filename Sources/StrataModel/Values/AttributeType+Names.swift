// Names for types and kinds of values in messages.

extension AttributeType {
    /// The type in words, such as "64-bit integer".
    package var name: String {
        switch self {
        case .undefined: "value of any type"
        case .integer16: "16-bit integer"
        case .integer32: "32-bit integer"
        case .integer64: "64-bit integer"
        case .decimal: "decimal"
        case .double: "double"
        case .float: "float"
        case .string: "string"
        case .boolean: "boolean"
        case .date: "date"
        case .binaryData: "binary data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .transformable: "transformable"
        case .objectID: "object id"
        case .composite: "composite"
        }
    }

    /// The type in words with its article, such as "a string" or "an object id".
    package var nameWithArticle: String {
        switch self {
        case .binaryData: name
        case .objectID: "an \(name)"
        default: "a \(name)"
        }
    }

    /// Whether the type is one of the three integer types.
    package var isInteger: Bool { self == .integer16 || self == .integer32 || self == .integer64 }

    /// Whether the type is an integer, floating-point or decimal type; booleans are not numeric.
    package var isNumeric: Bool { isInteger || self == .decimal || self == .double || self == .float }
}

extension AttributeValue {
    /// The kind of value in words, such as "string".
    package var kindName: String {
        switch self {
        case .null: "nil"
        case .boolean: "boolean"
        case .integer: "integer"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .string: "string"
        case .date: "date"
        case .uuid: "UUID"
        case .url: "URL"
        case .data, .blob: "binary data"
        case .objectID: "object id"
        case .composite: "composite"
        case .encrypted: "encrypted value"
        }
    }

    /// Whether this is an integer, a floating-point number or a decimal; booleans are not numbers.
    package var isNumber: Bool {
        switch self {
        case .integer, .float, .double, .decimal: true
        default: false
        }
    }

    /// Whether this is a date.
    package var isDate: Bool {
        if case .date = self { true } else { false }
    }
}
