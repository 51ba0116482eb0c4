import StrataModel

/// Rows of text in aligned columns, printed in blocks so that a long list streams.
///
/// The first block sets the widths; a later block that needs more widens them.
struct Columns {
    enum Alignment {
        case left
        case right
    }

    /// A cell with its width in columns and its colour. Colours take no width, and control characters in the text are escaped.
    struct Cell {
        let text: String
        let width: Int
        let colour: Style.Colour?

        init(_ text: String, _ colour: Style.Colour? = nil) {
            self.text = ValueText.harmless(text)
            width = TextWidth.of(self.text)
            self.colour = colour
        }
    }

    private let alignments: [Alignment]
    private let indent: String
    private let style: Style
    private let width: Int?
    private let isFirm: [Bool]
    private var widths: [Int]
    private var rows: [[Cell]] = []
    private static let block = 500

    /// - Parameters:
    ///   - isFirm: whether each column is cut only after the others; numbers and dates are of no use without their end.
    ///     Columns that are aligned right are firm unless it says otherwise.
    ///   - cutsToTerminal: whether cells are cut so that a line fits into the terminal.
    init(
        _ alignments: [Alignment], isFirm: [Bool]? = nil, indent: String = "", cutsToTerminal: Bool = false,
        style: Style = .standard
    ) {
        self.alignments = alignments
        self.isFirm = isFirm ?? alignments.map { $0 == .right }
        self.indent = indent
        self.style = style
        width = cutsToTerminal ? Terminal.width : nil
        widths = Array(repeating: 0, count: alignments.count)
    }

    mutating func add(_ cells: [Cell]) {
        for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.width) }
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
        let gaps = 2 * (widths.count - 1)
        let shown =
            width.map { ColumnWidths.fitting(widths, isFirm: isFirm, into: $0 - indent.count - gaps) } ?? widths
        for row in rows { Output.shared.line(text(row, shown)) }
        rows.removeAll(keepingCapacity: true)
    }

    private func text(_ row: [Cell], _ widths: [Int]) -> String {
        var line = indent
        var gap = 0
        for (column, cell) in row.enumerated() {
            let isCut = cell.width > widths[column]
            let shown = isCut ? TextWidth.cut(cell.text, to: widths[column]) : cell.text
            // A wide character that does not fit leaves a column free.
            let padding = widths[column] - (isCut ? TextWidth.of(shown) : cell.width)
            let isRight = alignments[column] == .right
            let before = gap + (isRight ? padding : 0)
            if !shown.isEmpty {
                line += String(repeating: " ", count: before) + (cell.colour.map { style(shown, $0) } ?? shown)
                gap = (isRight ? 0 : padding) + 2
            } else {
                gap += padding + 2
            }
        }
        return line
    }
}

/// The widths of columns in a terminal that is too narrow for them.
enum ColumnWidths {
    /// No column that is cut becomes narrower.
    static let least = 6

    /// The widths that fit into the room: columns that need less than their share keep their width, and the others share
    /// what is left. Firm columns are cut only if the others are at their least.
    static func fitting(_ widths: [Int], isFirm: [Bool], into room: Int) -> [Int] {
        guard widths.reduce(0, +) > room else { return widths }
        var fitting = widths
        let firm = widths.indices.filter { isFirm[$0] }, loose = widths.indices.filter { !isFirm[$0] }
        let leastOfLoose = loose.reduce(0) { $0 + min(widths[$1], least) }
        share(max(room - leastOfLoose, 0), among: firm, &fitting)
        share(room - firm.reduce(0) { $0 + fitting[$1] }, among: loose, &fitting)
        return fitting
    }

    private static func share(_ room: Int, among columns: [Int], _ widths: inout [Int]) {
        var left = room
        let rising = columns.sorted { widths[$0] < widths[$1] }
        for (position, column) in rising.enumerated() {
            widths[column] = min(widths[column], max(least, left / (rising.count - position)))
            left -= widths[column]
        }
    }
}
