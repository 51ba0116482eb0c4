/// Rows of text in aligned columns, printed in blocks so that a long list streams.
///
/// The first block sets the widths; a later block that needs more widens them.
struct Columns {
    enum Alignment {
        case left
        case right
    }

    /// A cell with its colour. Colours take no width, and control characters in the text are escaped.
    struct Cell {
        let text: String
        let colour: Style.Colour?

        init(_ text: String, _ colour: Style.Colour? = nil) {
            self.text = ValueText.harmless(text)
            self.colour = colour
        }
    }

    private let alignments: [Alignment]
    private let indent: String
    private let style: Style
    private let width: Int?
    private var widths: [Int]
    private var rows: [[Cell]] = []
    private static let block = 500

    /// - Parameter cutsToTerminal: whether the last column ends at the terminal's edge.
    init(_ alignments: [Alignment], indent: String = "", cutsToTerminal: Bool = false, style: Style = .standard) {
        self.alignments = alignments
        self.indent = indent
        self.style = style
        width = cutsToTerminal ? Terminal.width : nil
        widths = Array(repeating: 0, count: alignments.count)
    }

    mutating func add(_ cells: [Cell]) {
        for (column, cell) in cells.enumerated() where column < widths.count - 1 || alignments[column] == .right {
            widths[column] = max(widths[column], cell.text.count)
        }
        rows.append(cells)
        if rows.count == Self.block { flush() }
    }

    /// Prints a section: an empty line, its title, and indented columns, which may have headings.
    static func section(
        _ title: String, _ alignments: [Alignment], _ headings: [String] = [], _ fill: (inout Columns) -> Void
    ) {
        Output.shared.line()
        Output.shared.line(Style.standard(title, .bold))
        var columns = Columns(alignments, indent: "  ")
        if !headings.isEmpty { columns.add(headings.map { Cell($0, .dim) }) }
        fill(&columns)
        columns.flush()
    }

    mutating func add(_ cells: String...) { add(cells.map { Cell($0) }) }

    mutating func flush() {
        for row in rows { Output.shared.line(text(row)) }
        rows.removeAll(keepingCapacity: true)
    }

    private func text(_ row: [Cell]) -> String {
        var line = indent
        var used = indent.count
        var gap = 0
        for (column, cell) in row.enumerated() {
            let room = width.map { max(8, $0 - used - gap) }
            let shown = column == row.count - 1 ? Self.cut(cell.text, to: room) : cell.text
            let padding = max(0, widths[column] - shown.count)
            let isRight = alignments[column] == .right
            let before = gap + (isRight ? padding : 0)
            if !shown.isEmpty {
                line += String(repeating: " ", count: before) + (cell.colour.map { style(shown, $0) } ?? shown)
                gap = (isRight ? 0 : padding) + 2
            } else {
                gap += padding + 2
            }
            used += padding + shown.count + 2
        }
        return line
    }

    private static func cut(_ text: String, to room: Int?) -> String {
        guard let room, text.count > room else { return text }
        return text.prefix(room - 1) + "…"
    }
}
