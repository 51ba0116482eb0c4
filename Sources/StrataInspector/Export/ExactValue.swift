import Foundation
import StrataModel
import StrataStore

/// Writes values for export without loss: all of the data, and every digit of dates.
struct ExactValue {
    let store: Store
    let names: RecordedNames
    /// Whether values that are encrypted are written as such. Otherwise they are refused: an import would take the note for
    /// the value.
    var notesEncrypted = false

    /// - Throws: `missingBlob`, `encryptionKeyMissing`.
    func json(_ value: AttributeValue) throws -> JSONText.Value {
        switch value {
        case .data(let data): .text(data.base64EncodedString())
        case .blob(let reference): .text(try store.blob(reference).base64EncodedString())
        case .composite(let elements): .object(try elements.mapValues { try json($0) })
        case .encrypted where !notesEncrypted:
            throw StrataError(
                .encryptionKeyMissing,
                "The objects have values of encrypted attributes. Give the key with --key-file, or leave these attributes out "
                    + "with --columns.")
        default: JSONText.Value(value, date: DateText.exact) { names.name(of: $0) }
        }
    }

    /// The text of a value; nil for nil, JSON for a composite.
    func text(_ value: AttributeValue) throws -> String? {
        switch try json(value) {
        case .null: return nil
        case .text(let text): return text
        // JSON quotes infinity and NaN; text needs no quotes.
        case .number(let value) where !value.isFinite:
            return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
        case let other:
            var line = ""
            JSONLine.append(other, to: &line)
            return line
        }
    }

    /// The value as a property list has it; the caller leaves nil out.
    func property(_ value: AttributeValue) throws -> Any? {
        switch value {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        // Property lists have no negative zero.
        case .float(let value) where value == 0 && value.sign == .minus: "-0.0"
        case .double(let value) where value == 0 && value.sign == .minus: "-0.0"
        case .float(let value): Double("\(value)") ?? Double(value)
        case .double(let value): value
        // Property lists keep only whole seconds.
        case .date(let date):
            DateText.isInCalendar(date) && date.timeIntervalSince1970.rounded() == date.timeIntervalSince1970
                ? date : DateText.exact(date)
        case .data(let data): data
        case .blob(let reference): try store.blob(reference)
        case .composite(let elements): try property(ofComposite: elements)
        // XML has no form for most control characters, and its readers change some others; an import reads the bytes as
        // text again.
        case .string(let text) where !Self.isForXML(text): Data(text.utf8)
        default: try text(value)
        }
    }

    /// An empty one is its JSON text, because an empty dictionary means nil.
    private func property(ofComposite elements: [String: AttributeValue]) throws -> Any {
        let dictionary = try elements.compactMapValues { try property($0) }
        return dictionary.isEmpty ? "{}" : dictionary
    }

    /// Whether all characters are among those of XML 1.0 that come back as they are: the end of a line is always a line
    /// feed there, and a byte order mark is no text.
    private static func isForXML(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { character in
            switch character.value {
            case 0xD, 0xFEFF: false
            case 0x9, 0xA, 0x20...0xFFFD, 0x1_0000...: true
            default: false
            }
        }
    }
}
