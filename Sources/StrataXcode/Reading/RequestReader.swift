import StrataModel

/// Reads a `<fetchRequest>` element.
struct RequestReader {
    let diagnostics: DiagnosticList

    /// Reads a request; nil if its predicate cannot be read.
    func read(_ element: XMLElement, _ notes: UserInfoContent = UserInfoContent()) -> FetchRequestTemplate? {
        let unread = diagnostics.checkNames(of: element)
        let fields = diagnostics.fields(element)
        var template = RequestCodec.read(fields)
        if template.predicate == nil, fields["predicateString"].map({ !$0.isEmpty }) ?? false { return nil }
        template = notes.restored(
            UserInfoContent.fetchRequest + template.name, over: template, at: element, diagnostics,
            element: RequestCodec.plainElement)
        template.editorInfo = EditorNotes.difference(
            element.attributes, from: RequestCodec.attributes(of: template), of: "fetchRequest")
        template.editorInfo[EditorNotes.unread] = XMLElement.carried(unread)
        return template
    }
}
