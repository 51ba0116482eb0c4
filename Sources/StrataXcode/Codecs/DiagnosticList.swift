/// Collects the diagnostics of a file while it is read.
final class DiagnosticList {
    private(set) var all: [XcodeDiagnostic] = []
    /// The name of the entity or property that is being read.
    var owner: String?

    func add(_ kind: XcodeDiagnostic.Kind, _ element: XMLElement, _ attribute: String?, _ sentence: String) {
        all.append(
            XcodeDiagnostic(
                kind: kind, location: element.location, element: element.name, attribute: attribute, owner: owner,
                sentence: sentence))
    }

    func unreadable(_ element: XMLElement, _ attribute: String?, _ sentence: String) {
        add(.unreadable, element, attribute, sentence)
    }

    func fields(_ element: XMLElement) -> ElementFields {
        ElementFields(element.attributes) { [self] attribute, sentence in
            unreadable(element, attribute, "\(attribute): \(sentence)")
        }
    }

    /// Adds a diagnostic for each attribute and child that has no effect, and returns the unknown children.
    func checkNames(of element: XMLElement) -> [XMLElement] {
        let known = Vocabulary.attributes[element.name] ?? []
        for attribute in element.attributes {
            let name = attribute.name
            if let reason = Vocabulary.notSupported[element.name]?[name] {
                if ["", "NO", "false"].contains(attribute.value) { continue }
                add(.notSupported, element, name, "\(name) is not supported: \(reason)")
            } else if !known.contains(name) {
                add(.unknown, element, name, "the attribute \(name) of <\(element.name)> is not known")
            }
        }
        if !element.text.isEmpty { add(.unknown, element, nil, "<\(element.name)> has text in it") }
        let allowed = Vocabulary.children[element.name] ?? []
        let strange = element.children.filter { !allowed.contains($0.name) }
        for child in strange {
            add(.unknown, child, nil, "the element <\(child.name)> in <\(element.name)> is not known")
        }
        return strange
    }
}

extension XMLElement {
    /// Elements as text, to be kept in the editor info; nil if there are none.
    static func carried(_ elements: [XMLElement]) -> String? {
        elements.isEmpty ? nil : elements.map { XMLText.of($0) }.joined(separator: "\n")
    }

    /// The elements in a text from the editor info.
    static func carried(_ text: String?) -> [XMLElement] {
        guard let text else { return [] }
        do throws(ModelFileError) {
            return try XMLReader.read(Array("<carried>\(text)</carried>".utf8)).children
        } catch {
            return []
        }
    }
}
