import Foundation

/// A value as a file or the command line gives it, before an attribute says what it is.
enum InputValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// As it is written, so that no digit is lost.
    case number(String)
    case text(String)
    case date(Date)
    case data(Data)
    case list([InputValue])
    case object([String: InputValue])

    /// In words, such as "a list".
    var kindName: String {
        switch self {
        case .null: "nil"
        case .boolean: "a boolean"
        case .number: "a number"
        case .text: "text"
        case .date: "a date"
        case .data: "data"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// As text where it is a single value that has one way to be written.
    var text: String? {
        switch self {
        case .boolean(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        default: nil
        }
    }
}

/// A value that a property cannot take.
struct InputFault: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
