/// An object in the JSON of a command, written as a literal where the command prints it:
/// `["path": path, "events": 3]`. Members that are nil are left out, unless `orNull` wraps them.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private struct Member: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    private let members: [String: Member]

    init(dictionaryLiteral elements: (String, (any Encodable)?)...) {
        self.init(elements.compactMap { name, value in value.map { (name, $0) } })
    }

    /// An object whose keys come from the store; of two members with one name the first counts.
    init(_ pairs: some Sequence<(String, any Encodable)>) {
        members = Dictionary(pairs.map { ($0, Member(value: $1)) }, uniquingKeysWith: { first, _ in first })
    }

    /// A member that is printed as null if it is nil.
    static func orNull<Value: Encodable>(_ value: Value?) -> any Encodable { value }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
