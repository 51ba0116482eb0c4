import StrataModel

// Descriptions, as `print` shows them, of results that follow changes.

extension FetchedResultsSnapshot: CustomStringConvertible {
    /// The number of objects, and of those in each section: `5 objects; A: 2, B: 3`.
    public var description: String {
        let text = CountText.of(numberOfItems, "object")
        guard numberOfSections > 1 || sectionIdentifiers.contains(where: { !$0.isEmpty }) else { return text }
        let sections = (0..<numberOfSections).map { "\(sectionIdentifiers[$0]): \(numberOfItems(inSection: $0))" }
        return sections.isEmpty ? text : "\(text); \(sections.joined(separator: ", "))"
    }
}

extension FetchedResultsSection: CustomStringConvertible {
    /// The name and the number of objects. Makes no object.
    public var description: String {
        name.isEmpty ? CountText.of(numberOfObjects, "object") : "\(name): \(CountText.of(numberOfObjects, "object"))"
    }
}

extension FetchedResultsController: CustomStringConvertible {
    /// The request, and how much it has found: `results of Movie, sorted by title: 5 objects`.
    public var description: String {
        "results of \(fetchRequest): \(tracker == nil ? "not fetched" : snapshot.description)"
    }
}

extension FetchedResultsDifference: CustomStringConvertible {
    /// The numbers of objects that were inserted, deleted, moved and updated, and of sections: `1 inserted, 2 moved; 1
    /// section inserted`.
    public var description: String {
        let objects = CountText.of([
            (insertions.count, "inserted"), (deletions.count, "deleted"), (moves.count, "moved"),
            (updates.count, "updated"),
        ])
        let sections = [(insertedSections.count, "inserted"), (deletedSections.count, "deleted")]
            .filter { $0.0 > 0 }.map { "\(CountText.of($0.0, "section")) \($0.1)" }
        let parts = (objects.isEmpty ? [] : [objects]) + sections
        return parts.isEmpty ? "no difference" : parts.joined(separator: "; ")
    }
}

extension LiveResultsUpdate: CustomStringConvertible {
    /// The state, and what differs from the one before: `5 objects at event 34; 1 inserted`.
    public var description: String {
        "\(snapshot) at event \(eventNumber)\(difference.map { "; \($0)" } ?? "")"
    }
}

extension LiveViewRowsUpdate: CustomStringConvertible {
    /// The number of rows, and what differs from the state before: `5 rows at event 34; 1 inserted`.
    public var description: String {
        "\(CountText.of(rows.count, "row")) at event \(eventNumber)\(difference.map { "; \($0)" } ?? "")"
    }
}

extension ViewRowsDifference: CustomStringConvertible {
    /// The numbers of rows that were inserted, changed and removed, and whether others are in another order.
    public var description: String {
        var text = CountText.of([(inserted.count, "inserted"), (changed.count, "changed"), (removed.count, "removed")])
        if isReordered { text += text.isEmpty ? "reordered" : ", reordered" }
        return text.isEmpty ? "no difference" : text
    }
}

extension ResultObjects: CustomStringConvertible {
    /// The number of objects. Makes none.
    public var description: String { CountText.of(count, "object") }
}
