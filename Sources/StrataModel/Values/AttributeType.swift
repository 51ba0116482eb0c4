/// What an attribute holds; raw values are Core Data's codes.
public enum AttributeType: UInt16, Sendable, Hashable, Codable, CaseIterable {
    /// Any value; allowed for transient attributes only.
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binaryData = 1000
    case uuid = 1100
    case uri = 1200
    /// Any value, stored as the bytes that the attribute's value transformer makes of it.
    case transformable = 1800
    case objectID = 2000
    /// Named elements, each of a type of its own.
    case composite = 2100

    /// Bytes that the type takes in the fixed part of a row.
    package var fixedWidth: Int {
        switch self {
        case .boolean: 1
        case .integer16: 2
        case .integer32, .float: 4
        case .integer64, .double, .date, .objectID: 8
        case .uuid: 16
        case .decimal: 20
        case .string, .binaryData, .uri, .transformable, .composite, .undefined: 8
        }
    }

    /// Whether a row holds the place and length of the value instead of the value.
    package var isVariableWidth: Bool {
        switch self {
        case .string, .binaryData, .uri, .transformable, .composite, .undefined: true
        default: false
        }
    }
}
