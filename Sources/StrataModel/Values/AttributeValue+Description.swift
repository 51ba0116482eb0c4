import Foundation

extension AttributeValue: CustomStringConvertible {
    /// The value as Swift writes it: text in quotes, `nil` for none, the size of data, the number of an object.
    public var description: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let text): text.debugDescription
        case .date(let date): "\(date)"
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): CountText.of(data.count, "byte")
        case .blob(let reference): "\(reference.sizeInBytes) bytes"
        case .encrypted: "(encrypted)"
        case .objectID(let id): id.isNil ? "nil" : "\(id)"
        case .composite(let elements):
            "(" + elements.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + ")"
        }
    }
}
