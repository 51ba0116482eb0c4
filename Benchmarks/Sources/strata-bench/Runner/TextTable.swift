/// A table as text: columns padded for a terminal, or Markdown.
struct TextTable {
    enum Style {
        case terminal, markdown
    }

    private let heads: [String]
    private var rows: [[String]] = []

    init(_ heads: [String]) { self.heads = heads }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var isEmpty: Bool { rows.isEmpty }

    /// The first column is aligned left, the others right.
    func text(_ style: Style) -> String {
        switch style {
        case .markdown:
            let rule = ["---"] + heads.dropFirst().map { _ in "--:" }
            return ([heads, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
        case .terminal:
            let all = [heads] + rows
            let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
            return all.map { row in
                row.indices.map { column in
                    let space = String(repeating: " ", count: widths[column] - row[column].count)
                    return column == 0 ? row[column] + space : space + row[column]
                }.joined(separator: "  ")
            }.joined(separator: "\n")
        }
    }
}
