import Foundation
import StrataModel

/// A `<userInfo>` element: entries of the app, and Strata's own notes among them.
///
/// What Xcode has no words for (a predicate that a value must keep, a folded index, the order of a template) travels as a
/// note: the description as JSON, under a key of the user info that begins with `strata.`. Xcode shows it and keeps it. When
/// what Xcode can say has been changed there since, the note is out of date and is passed over.
struct UserInfoContent {
    static let description = "strata.description"
    static let propertyOrder = "strata.propertyOrder"
    static let fetchRequest = "strata.fetchRequest."
    static let fetchedProperty = "strata.fetchedProperty."

    var values: [String: String] = [:]
    var notes: [String: String] = [:]
    /// Whether there is an element without entries.
    var isEmptyElement = false

    static func isNote(_ key: String) -> Bool {
        key == description || key == propertyOrder || key.hasPrefix(fetchRequest) || key.hasPrefix(fetchedProperty)
    }

    init() {}

    /// The entries of what is written; those that look like notes only come back with the note that has them.
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

    /// Entries in the order of their keys, as Xcode has them; nil when there is nothing to write.
    var element: XMLElement? {
        let entries = values.merging(notes) { $1 }.sorted { $0.key < $1.key }
        if entries.isEmpty && !isEmptyElement { return nil }
        return XMLElement(
            "userInfo",
            children: entries.map { XMLElement("entry", [Attribute("key", $0.key), Attribute("value", $0.value)]) })
    }

    // MARK: Notes

    /// - Throws: `invalidModel` for what JSON cannot hold.
    static func note(_ description: some Encodable) throws(StrataError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(description), as: UTF8.self)
            if text.unicodeScalars.allSatisfy(XMLText.isAllowed) { return text }
            // JSON has a form for what XML cannot hold.
            return text.unicodeScalars.map {
                XMLText.isAllowed($0) ? String($0) : "\\u" + String($0.value + 0x10000, radix: 16).suffix(4)
            }.joined()
        } catch {
            throw StrataError(.invalidModel, "A description cannot be written.", cause: error)
        }
    }

    /// What a note says, if it is still about what stands in the file.
    ///
    /// - Parameter element: what is written for a description without its note.
    func restored<Description: Codable>(
        _ key: String, over read: Description, at parent: XMLElement, _ diagnostics: DiagnosticList,
        element: (Description) -> XMLElement
    ) -> Description {
        guard let text = notes[key] else { return read }
        do {
            let noted = try JSONDecoder().decode(Description.self, from: Data(text.utf8))
            // As text, because what XML cannot hold was lost on one side only.
            if XMLText.of(element(noted)) == XMLText.of(element(read)) { return noted }
            diagnostics.unreadable(parent, nil, "the note \(key) is out of date: Xcode has changed what it was about")
        } catch {
            diagnostics.unreadable(parent, nil, "the note \(key) cannot be read")
        }
        return read
    }
}
