import StrataModel
import StrataStore

/// An error that lists conflicts, with the names of the objects in conflict.
struct NamedConflicts: Error {
    let error: StrataError
    let names: RecordedNames

    /// One line for each failure, then one for each property.
    var lines: [String] { error.commandLineTexts + error.context.conflicts.flatMap { lines(of: $0) } }

    private func lines(of conflict: MergeConflict) -> [String] {
        func text(_ value: AttributeValue) -> String { ValueText.of(value) { names.name(of: $0) } }
        let name = names.name(of: conflict.objectID)
        if conflict.isDeletedInStore { return ["\(name): it has been deleted since"] }
        return conflict.properties.map {
            "\(name).\($0.name): now \(text($0.theirs)), was to become \(text($0.mine))"
        }
    }
}

extension StrataError {
    /// Whether the command line is wrong, so that the exit code is 2.
    var isBadUsage: Bool { [.invalidRequest, .unknownKey, .unknownEntity, .wrongType].contains(code) }

    /// One line for each failure.
    var commandLineTexts: [String] { details.isEmpty ? [commandLineText] : details.map(\.commandLineText) }

    /// One line that says what failed and where, without the codes of lower layers.
    var commandLineText: String {
        var text = message
        if let format = cause as? FetchFormatError { return "Column \(format.column): \(format.sentence)\n\(format)" }
        if let name = context.entityName, let id = context.objectID, context.conflicts.isEmpty {
            text += " (\(id.named(name)))"
        }
        if let path = context.path, !text.contains(path) { text += " (\(path))" }
        if let eventNumber = context.eventNumber { text += " (event number \(eventNumber))" }
        return text.split(separator: "\n").joined(separator: " ")
    }
}
