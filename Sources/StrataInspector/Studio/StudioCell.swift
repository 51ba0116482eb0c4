import StrataModel
import StrataStore

/// A value for a page: text on one line without control characters, and what a page needs to show it well.
struct StudioCell: Encodable, Equatable {
    enum Kind: String, Encodable {
        case null, boolean, number, text, date, identifier, data, object, composite, list, encrypted
    }

    let kind: Kind
    let text: String
    /// The object that the value leads to, such as `Film/p5`.
    var object: String?
    /// The size of text that is cut, or of data.
    var bytes: Int?
    var isCut: Bool?
    /// The values of a list.
    var items: [StudioCell]?

    private static let mostItems = 20

    /// - Parameter limit: the most characters of a text.
    init(_ value: AttributeValue, _ links: LinkNames, limit: Int = 200) {
        kind = Self.kind(of: value)
        text = ValueText.plain(value, limit: limit, date: DateText.exact) { links.label(of: $0) }
        switch value {
        case .objectID(let id): object = links.names.name(of: id)
        case .string(let string) where string.unicodeScalars.count > limit:
            bytes = string.utf8.count
            isCut = true
        case .data(let data): bytes = data.count
        case .blob(let blob): bytes = Int(clamping: blob.sizeInBytes)
        default: break
        }
    }

    init(_ operand: PredicateOperand, _ links: LinkNames) {
        switch operand {
        case .one(let value): self.init(value, links)
        case .many(let values): self.init(list: values, links)
        }
    }

    private init(list values: [AttributeValue], _ links: LinkNames) {
        kind = .list
        items = values.prefix(Self.mostItems).map { StudioCell($0, links) }
        isCut = values.count > Self.mostItems ? true : nil
        text = ValueText.count(values.count, "value")
    }

    init(_ value: RecordedValue, _ links: LinkNames, limit: Int = 200) { self.init(value.known, links, limit: limit) }

    /// The length of its text and of those in its list, in bytes.
    var length: Int { text.utf8.count + (items ?? []).reduce(0) { $0 + $1.length } }

    private static func kind(of value: AttributeValue) -> Kind {
        switch value {
        case .null: .null
        case .boolean: .boolean
        case .integer, .float, .double, .decimal: .number
        case .string: .text
        case .date: .date
        case .uuid, .url: .identifier
        case .data, .blob: .data
        case .encrypted: .encrypted
        case .objectID: .object
        case .composite: .composite
        }
    }
}
