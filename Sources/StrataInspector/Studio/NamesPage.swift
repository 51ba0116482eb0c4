import StrataModel
import StrataStore

/// The names that the end of a filter, an order or a list of columns may become.
///
/// Parameters: `text`, which ends where the caret is.
struct NamesPage: Encodable {
    struct Name: Encodable, Equatable {
        /// The whole key path.
        let path: String
        /// The type of the attribute, or what the relationship leads to; nil for a function of a to-many.
        let type: String?
    }

    let moment: StudioMoment
    let entity: String
    /// The end of the text that a name replaces.
    let replaced: String
    let names: [Name]

    private static let most = 50

    init(_ name: String, _ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let schema = try StudioProblem.of("entity") { try reading.moment.entity(named: name) }
        entity = schema.name
        let text = try reading.text("text") ?? ""
        replaced = String(text.suffix(NameCompletion.lengthOfPath(atEndOf: text)))
        guard !Self.endsInQuotes(text) else {
            names = []
            return
        }
        let completion = NameCompletion(reading.moment.schema)
        names = completion.keyPaths(completing: replaced, of: schema).prefix(Self.most).map { path in
            Name(path: path, type: completion.type(of: path, of: schema))
        }
    }

    /// Whether the text ends inside a quoted value, where no name is meant.
    private static func endsInQuotes(_ text: String) -> Bool {
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if character == "\\", quote != nil {
                isEscaped = true
            } else if quote == character {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            }
        }
        return quote != nil
    }
}
