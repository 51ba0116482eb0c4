import StrataModel
import StrataStore

/// The column of `strata query --snippet`: what a text query found of each object, the words in brackets.
struct SnippetColumn {
    /// The columns that are printed.
    let columns: [OutputColumn]
    private let query: FullTextQuery
    private let attributeCount: Int

    /// - Parameters:
    ///   - columns: those before the snippet.
    ///   - attributeCount: how many attributes with text follow them in each row.
    init(_ query: FullTextQuery, _ columns: [OutputColumn], attributeCount: Int) {
        self.query = query
        self.attributeCount = attributeCount
        self.columns = columns + [OutputColumn("snippet", .constant(.null))]
    }

    /// A row with the snippet in place of the texts: of the attribute in which most was found, or of the first.
    func row(_ cells: [PredicateOperand]) -> [PredicateOperand] {
        let texts = cells.suffix(attributeCount).compactMap { cell in
            if case .one(let value) = cell { value.text } else { nil }
        }
        var best: (text: String, count: Int)?
        for text in texts {
            let count = query.ranges(in: text).count
            if count > best?.count ?? -1 { best = (text, count) }
        }
        let snippet = best.map { AttributeValue.string(query.snippet(of: $0.text)) } ?? .null
        return cells.dropLast(attributeCount) + [.one(snippet)]
    }
}
