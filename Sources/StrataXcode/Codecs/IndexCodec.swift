import StrataModel

/// Converts indexes to and from `<fetchIndex>` elements, and the two older forms: `<compoundIndex>` elements, and
/// attributes that are marked as indexed.
enum IndexCodec {
    /// Notes the older form of an index.
    private static let form = EditorNotes.ofForm("form")
    private static let type = EditorNotes.ofForm("type.")
    private static let omitted = EditorNotes.ofForm("omitted.")
    private static let expression = EditorNotes.ofForm("expression.")
    private static let expressionType = EditorNotes.ofForm("expressionType.")

    // MARK: Reading

    /// Reads an index; nil if it uses an expression that cannot be indexed, or all its parts are omitted.
    ///
    /// - Parameter isToMany: whether a property is a to-many relationship. Such parts are omitted.
    static func read(
        _ element: XMLElement, _ diagnostics: DiagnosticList, isToMany: (String) -> Bool
    ) -> FetchIndexDescription? {
        var index = FetchIndexDescription(name: element["name"] ?? "", elements: [])
        let unread = diagnostics.checkNames(of: element)
        for (number, child) in element.children(named: "fetchIndexElement").enumerated() {
            _ = diagnostics.checkNames(of: child)
            guard let part = part(child, at: number, of: &index, diagnostics) else { return nil }
            add(part, at: number, to: &index, child, diagnostics, isToMany)
            guard let type = child["type"], type != "Binary" else { continue }
            index.editorInfo[Self.type + String(number)] = type
            diagnostics.add(
                .notSupported, child, "type",
                "\(part.propertyPath) of the index \(index.name) is \(type); the index becomes an ordinary one, which "
                    + "finds ranges of its first property and filters the others")
        }
        let fields = diagnostics.fields(element)
        index.partialIndexPredicate = RequestCodec.predicate(fields, "partialIndexPredicate")
        if index.partialIndexPredicate == nil, fields["partialIndexPredicate"] != nil { return nil }
        let difference = EditorNotes.difference(element.attributes, from: attributes(of: index), of: element.name)
        index.editorInfo.values.merge(difference.values) { $1 }
        index.editorInfo[EditorNotes.unread] = XMLElement.carried(unread)
        return index.elements.isEmpty ? nil : index
    }

    private static func part(
        _ element: XMLElement, at number: Int, of index: inout FetchIndexDescription, _ diagnostics: DiagnosticList
    ) -> FetchIndexElement? {
        let isAscending = element["order"] != "descending"
        guard let text = element["expression"] else {
            guard let property = element["property"] else {
                diagnostics.unreadable(element, nil, "a part of the index \(index.name) names no property")
                return nil
            }
            return FetchIndexElement(property, isAscending: isAscending)
        }
        guard var part = Self.part(overExpression: text) else {
            let isDerivable = (try? FetchExpression(format: text)).flatMap(AttributeDerivation.init) != nil
            diagnostics.add(
                .notSupported, element, "expression",
                "the index \(index.name) is omitted: \(text) cannot be indexed"
                    + (isDerivable ? "; a derived attribute with that expression can be indexed" : ""))
            return nil
        }
        part.isAscending = isAscending
        index.editorInfo[expression + String(number)] = text
        index.editorInfo[expressionType + String(number)] = element["expressionType"]
        if !part.folding.isEmpty {
            diagnostics.add(
                .notSupported, element, "expression",
                "the index \(index.name) folds \(part.propertyPath) instead of using \(text); it serves comparisons "
                    + (part.folding.contains(.diacriticInsensitive) ? "with [cd]" : "with [c]"))
        }
        return part
    }

    /// The index element for an expression: a property, or its text without case, or without case and diacritics; nil
    /// for any other expression.
    private static func part(overExpression text: String) -> FetchIndexElement? {
        guard let expression = try? FetchExpression(format: text) else { return nil }
        switch expression {
        case .keyPath(let path) where !path.contains("@"): return FetchIndexElement(path)
        case .function(let function, let arguments):
            guard arguments.count == 1, case .keyPath(let path) = arguments[0], !path.contains("@") else { return nil }
            switch function {
            case .lowercase, .uppercase: return FetchIndexElement(path, folding: .caseInsensitive)
            case .canonical: return FetchIndexElement(path, folding: [.caseInsensitive, .diacriticInsensitive])
            default: return nil
            }
        default: return nil
        }
    }

    private static func add(
        _ part: FetchIndexElement, at number: Int, to index: inout FetchIndexDescription, _ element: XMLElement,
        _ diagnostics: DiagnosticList, _ isToMany: (String) -> Bool
    ) {
        guard isToMany(part.propertyPath) else { return index.elements.append(part) }
        index.editorInfo[omitted + String(number)] = (part.isAscending ? "+" : "-") + part.propertyPath
        diagnostics.add(
            .notSupported, element, nil,
            "\(part.propertyPath) is a to-many relationship and is omitted from the index \(index.name): its "
                + "members are found by their links, which need no index")
    }

    /// The index that Core Data made of an attribute marked as indexed.
    static func single(_ name: String) -> FetchIndexDescription {
        FetchIndexDescription(name: name, elements: [FetchIndexElement(name)], editorInfo: [form: "indexed"])
    }

    /// Reads a compound index; nil if all its parts are to-many relationships.
    static func compound(
        _ element: XMLElement, _ diagnostics: DiagnosticList, isToMany: (String) -> Bool
    ) -> FetchIndexDescription? {
        _ = diagnostics.checkNames(of: element)
        let parts = element.children(named: "index")
        let names = parts.map { $0["value"] ?? "" }
        var index = FetchIndexDescription(
            name: names.joined(separator: ","), elements: [], editorInfo: [form: "compound"])
        for (number, child) in parts.enumerated() {
            _ = diagnostics.checkNames(of: child)
            add(FetchIndexElement(names[number]), at: number, to: &index, child, diagnostics, isToMany)
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

    /// The elements in the file, with omitted ones.
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
        let parts = allElements(of: index).enumerated().map { number, part in
            XMLElement(
                "fetchIndexElement",
                source(of: part, at: number, index) + [
                    Attribute("type", index.editorInfo[type + String(number)] ?? "Binary"),
                    Attribute("order", part.isAscending ? "ascending" : "descending"),
                ])
        }
        return XMLElement(
            "fetchIndex", written, children: parts + XMLElement.carried(index.editorInfo[EditorNotes.unread]))
    }

    /// The attributes for a part: the expression that it was read from, if that still gives the same part, or the
    /// property.
    private static func source(
        of part: FetchIndexElement, at number: Int, _ index: FetchIndexDescription
    ) -> [Attribute] {
        guard let text = index.editorInfo[expression + String(number)], var read = Self.part(overExpression: text)
        else {
            return [Attribute("property", part.propertyPath)]
        }
        read.isAscending = part.isAscending
        guard read == part else { return [Attribute("property", part.propertyPath)] }
        let type = index.editorInfo[expressionType + String(number)].map { [Attribute("expressionType", $0)] }
        return [Attribute("expression", text)] + (type ?? [])
    }

    static func compoundElement(of index: FetchIndexDescription) -> XMLElement {
        XMLElement(
            "compoundIndex",
            children: allElements(of: index).map { XMLElement("index", [Attribute("value", $0.propertyPath)]) })
    }
}
