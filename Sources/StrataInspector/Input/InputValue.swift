import Foundation

/// A value as a file or the command line writes it, before an attribute gives it a type.
enum InputValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The number as it is written, so that no digit is lost.
    case number(String)
    case text(String)
    case date(Date)
    case data(Data)
    case list([InputValue])
    case object([String: InputValue])

    /// The kind of the value in words: "a list".
    var kindName: String {
        switch self {
        case .null: "nil"
        case .boolean: "a boolean"
        case .number: "a number"
        case .text: "text"
        case .date: "a date"
        case .data: "data"
        case .list: "a list"
        case .object: "a dictionary"
        }
    }

    /// The text of a single value; nil for lists and objects.
    var text: String? {
        switch self {
        case .boolean(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        default: nil
        }
    }
}

/// An error in a file or an argument: a value that a property cannot take, or text that cannot be read.
struct InputError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
