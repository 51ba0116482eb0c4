import Foundation
import StrataModel

/// The content of a `<userInfo>` element: entries of the app, and Strata's notes.
///
/// Xcode's format cannot express everything, such as a validation predicate, a folded index, or the order of a
/// template. Then the whole description is written as a note: JSON under a key that begins with `strata.`. Xcode shows
/// and keeps it. If the description was changed in Xcode since, the note is out of date and is ignored.
struct UserInfoContent {
    static let description = "strata.description"
    /// `YES` for an attribute that is encrypted. It may also be set in Xcode.
    static let encrypted = "strata.encrypted"
    /// The attributes of an entity's full text, separated by commas or spaces. It may also be set in Xcode.
    static let fullText = "strata.fullText"
    static let propertyOrder = "strata.propertyOrder"
    static let fetchRequest = "strata.fetchRequest."
    static let fetchedProperty = "strata.fetchedProperty."

    var values: [String: String] = [:]
    var notes: [String: String] = [:]
    /// Whether the file has the element although it has no entries.
    var isEmptyElement = false

    static func isNote(_ key: String) -> Bool {
        [description, encrypted, fullText, propertyOrder].contains(key) || key.hasPrefix(fetchRequest)
            || key.hasPrefix(fetchedProperty)
    }

    init() {}

    /// Content with the entries of a description. Entries with the keys of notes are omitted; a note keeps them.
    init(values: [String: String]) {
        self.values = values.filter { !Self.isNote($0.key) }
    }

    init(_ parent: XMLElement, _ diagnostics: DiagnosticList) {
        for element in parent.children(named: "userInfo") {
            isEmptyElement = element.children.isEmpty
            for entry in element.children(named: "entry") {
                guard let key = entry["key"] else {
                    diagnostics.unreadable(entry, "key", "an entry of the user info has no key")
                    continue
                }
                if Self.isNote(key) { notes[key] = entry["value"] } else { values[key] = entry["value"] ?? "" }
            }
        }
    }

    /// The element, with entries in the order of their keys as in Xcode's files; nil if there is nothing to write.
    var element: XMLElement? {
        let entries = values.merging(notes) { $1 }.sorted { $0.key < $1.key }
        if entries.isEmpty && !isEmptyElement { return nil }
        return XMLElement(
            "userInfo",
            children: entries.map { XMLElement("entry", [Attribute("key", $0.key), Attribute("value", $0.value)]) })
    }

    // MARK: Notes

    /// A description as the text of a note.
    ///
    /// - Throws: `invalidModel` if JSON cannot express it.
    static func note(_ description: some Encodable) throws(StrataError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(description), as: UTF8.self)
            if text.unicodeScalars.allSatisfy(XMLText.isAllowed) { return text }
            // JSON has escapes for the characters that XML cannot express.
            return text.unicodeScalars.map {
                XMLText.isAllowed($0) ? String($0) : "\\u" + String($0.value + 0x10000, radix: 16).suffix(4)
            }.joined()
        } catch {
            throw StrataError(
                .invalidModel, "A description cannot be written as JSON; the cause says which value.", cause: error)
        }
    }

    /// The description in a note, if it still fits the file; else the description that was read.
    ///
    /// - Parameter element: makes the element of a description without its note.
    func restored<Description: Codable>(
        _ key: String, over read: Description, at parent: XMLElement, _ diagnostics: DiagnosticList,
        element: (Description) -> XMLElement
    ) -> Description {
        guard let text = notes[key] else { return read }
        do {
            let noted = try JSONDecoder().decode(Description.self, from: Data(text.utf8))
            // Compared as text, because only one side has lost the characters that XML cannot express.
            if XMLText.of(element(noted)) == XMLText.of(element(read)) { return noted }
            diagnostics.unreadable(
                parent, nil,
                "the note \(key) is out of date, because the model was changed in Xcode since, and is ignored")
        } catch {
            diagnostics.unreadable(parent, nil, "the note \(key) cannot be read")
        }
        return read
    }
}

// In the user info of an attribute: YES; SUBJECT for the key of the object itself; SUBJECT:customer for that of what the
// property names.
extension AttributeEncryption {
    private static let ofSubject = "SUBJECT"

    /// Nil for an attribute in the clear.
    init?(userInfoValue text: String) {
        if text == "NO" { return nil }
        if text == Self.ofSubject {
            self = .subjectKey(.object)
        } else if text.hasPrefix(Self.ofSubject + ":") {
            self = .subjectKey(.property(String(text.dropFirst(Self.ofSubject.count + 1))))
        } else {
            self = .storeKey
        }
    }

    var userInfoValue: String {
        switch self {
        case .storeKey: "YES"
        case .subjectKey(.object): Self.ofSubject
        case .subjectKey(.property(let name)): "\(Self.ofSubject):\(name)"
        }
    }
}
