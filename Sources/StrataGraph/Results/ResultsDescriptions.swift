import StrataModel

// What `print` shows of results that follow changes.

extension FetchedResultsSnapshot: CustomStringConvertible {
    /// The number of objects, and of those in each section: `5 objects; A: 2, B: 3`.
    public var description: String {
        let text = ResultsText.objects(numberOfItems)
        guard numberOfSections > 1 || sectionIdentifiers.contains(where: { !$0.isEmpty }) else { return text }
        let sections = (0..<numberOfSections).map { "\(sectionIdentifiers[$0]): \(numberOfItems(inSection: $0))" }
        return sections.isEmpty ? text : "\(text); \(sections.joined(separator: ", "))"
    }
}

extension FetchedResultsSection: CustomStringConvertible {
    /// The name and the number of objects. Makes no object.
    public var description: String {
        name.isEmpty ? ResultsText.objects(numberOfObjects) : "\(name): \(ResultsText.objects(numberOfObjects))"
    }
}

extension FetchedResultsController: CustomStringConvertible {
    /// The request, and how much it has found: `results of Movie, sorted by title: 5 objects`.
    public var description: String {
        "results of \(fetchRequest): \(tracker == nil ? "not fetched" : snapshot.description)"
    }
}

private enum ResultsText {
    static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }
}
