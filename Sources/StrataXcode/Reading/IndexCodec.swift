import StrataModel

/// Fetch indexes, the compound indexes of older files, and attributes that are marked as indexed.
enum IndexCodec {
    /// The mark of an index that the file does not have as a `<fetchIndex>`.
    private static let form = EditorNotes.ofForm("form")
    private static let type = EditorNotes.ofForm("type.")
    private static let omitted = EditorNotes.ofForm("omitted.")

    // MARK: Reading

    /// nil for an index over an expression, which is not made.
    ///
    /// - Parameter isToMany: whether a property is a to-many relationship, which no index can hold: it is left out.
    static func read(
        _ element: XMLElement, _ diagnostics: DiagnosticList, isToMany: (String) -> Bool
    ) -> FetchIndexDescription? {
        var index = FetchIndexDescription(name: element["name"] ?? "", elements: [])
        let unread = diagnostics.checkNames(of: element)
        for (place, child) in element.children(named: "fetchIndexElement").enumerated() {
            _ = diagnostics.checkNames(of: child)
            guard let property = child["property"], child["expression"] == nil else { return nil }
            let part = FetchIndexElement(property, isAscending: child["order"] != "descending")
            add(part, at: place, to: &index, child, diagnostics, isToMany)
            guard let type = child["type"], type != "Binary" else { continue }
            index.editorInfo[Self.type + String(place)] = type
            diagnostics.add(
                .notSupported, child, "type",
                "\(property) of the index \(index.name) is \(type); the index is an ordinary one")
        }
        let fields = diagnostics.fields(element)
        index.partialIndexPredicate = RequestCodec.predicate(fields, "partialIndexPredicate")
        if index.partialIndexPredicate == nil, fields["partialIndexPredicate"] != nil { return nil }
        let difference = EditorNotes.difference(element.attributes, from: attributes(of: index), of: element.name)
        index.editorInfo.values.merge(difference.values) { $1 }
        index.editorInfo[EditorNotes.unread] = XMLElement.carried(unread)
        return index.elements.isEmpty ? nil : index
    }

    private static func add(
        _ part: FetchIndexElement, at place: Int, to index: inout FetchIndexDescription, _ element: XMLElement,
        _ diagnostics: DiagnosticList, _ isToMany: (String) -> Bool
    ) {
        guard isToMany(part.propertyPath) else { return index.elements.append(part) }
        index.editorInfo[omitted + String(place)] = (part.isAscending ? "+" : "-") + part.propertyPath
        diagnostics.add(
            .notSupported, element, nil,
            "\(part.propertyPath) is a to-many relationship and is left out of the index \(index.name)")
    }

    /// What Core Data made of an attribute that was marked as indexed.
    static func single(_ name: String) -> FetchIndexDescription {
        FetchIndexDescription(name: name, elements: [FetchIndexElement(name)], editorInfo: [form: "indexed"])
    }

    /// nil for one over to-many relationships alone.
    static func compound(
        _ element: XMLElement, _ diagnostics: DiagnosticList, isToMany: (String) -> Bool
    ) -> FetchIndexDescription? {
        _ = diagnostics.checkNames(of: element)
        let parts = element.children(named: "index")
        let names = parts.map { $0["value"] ?? "" }
        var index = FetchIndexDescription(
            name: names.joined(separator: ","), elements: [], editorInfo: [form: "compound"])
        for (place, child) in parts.enumerated() {
            _ = diagnostics.checkNames(of: child)
            add(FetchIndexElement(names[place]), at: place, to: &index, child, diagnostics, isToMany)
        }
        return index.elements.isEmpty ? nil : index
    }

    // MARK: Writing

    static func isMark(_ index: FetchIndexDescription) -> Bool { index.editorInfo[form] == "indexed" }
    static func isCompound(_ index: FetchIndexDescription) -> Bool { index.editorInfo[form] == "compound" }

    private static func attributes(of index: FetchIndexDescription) -> [Attribute] {
        var list = [Attribute("name", index.name)]
        if let predicate = index.partialIndexPredicate {
            list.append(Attribute("partialIndexPredicate", predicate.description))
        }
        return list
    }

    /// Those that are left out too.
    private static func allElements(of index: FetchIndexDescription) -> [FetchIndexElement] {
        var rest = index.elements[...]
        var all: [FetchIndexElement] = []
        while true {
            if let text = index.editorInfo[omitted + String(all.count)] {
                all.append(FetchIndexElement(String(text.dropFirst()), isAscending: text.hasPrefix("+")))
            } else if let next = rest.popFirst() {
                all.append(next)
            } else {
                return all
            }
        }
    }

    static func element(of index: FetchIndexDescription) -> XMLElement {
        let written = EditorNotes.apply(index.editorInfo, to: attributes(of: index), of: "fetchIndex") { attributes in
            let fields = ElementFields(attributes)
            return fields["name"] == index.name
                && RequestCodec.predicate(fields, "partialIndexPredicate") == index.partialIndexPredicate
        }
        let parts = allElements(of: index).enumerated().map { place, part in
            XMLElement(
                "fetchIndexElement",
                [
                    Attribute("property", part.propertyPath),
                    Attribute("type", index.editorInfo[type + String(place)] ?? "Binary"),
                    Attribute("order", part.isAscending ? "ascending" : "descending"),
                ])
        }
        return XMLElement(
            "fetchIndex", written, children: parts + XMLElement.carried(index.editorInfo[EditorNotes.unread]))
    }

    static func compoundElement(of index: FetchIndexDescription) -> XMLElement {
        XMLElement(
            "compoundIndex",
            children: allElements(of: index).map { XMLElement("index", [Attribute("value", $0.propertyPath)]) })
    }
}
