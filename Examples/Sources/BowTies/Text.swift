import Foundation
import StrataGraph
import StrataModel

/// Values as text for people.
enum Text {
    static func describe(_ value: AttributeValue) -> String {
        switch value {
        case .null: "nil"
        case .boolean(let value): value ? "yes" : "no"
        case .integer(let value): String(value)
        case .float(let value): String(value)
        case .double(let value): String(value)
        case .decimal(let value): String(describing: value)
        case .string(let value): "\"\(value)\""
        case .date(let value): value.formatted(.iso8601)
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .data(let value): "\(value.count) bytes"
        case .blob(let value): "\(value.sizeInBytes) bytes in a file"
        case .objectID(let value): "p\(value.row)"
        case .composite(let value): "\(value.count) elements"
        case .encrypted: "(encrypted)"
        }
    }

    /// Whether a value is worth printing on a line of the log.
    static func isShort(_ value: AttributeValue) -> Bool {
        switch value {
        case .string, .integer, .double: true
        default: false
        }
    }
}
