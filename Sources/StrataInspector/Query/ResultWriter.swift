// Prints rows of values as a table, JSON or CSV.

import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// The formats for rows of values.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json, ndjson, csv
}

/// The options of commands that print rows of values.
struct RowFormatArguments: ParsableArguments {
    @Option(help: ArgumentHelp("table, json, ndjson or csv.", valueName: "format")) var format: RowFormat?
    @Flag(help: "The same as --format json.") var json = false

    init() {}

    func validate() throws {
        if json, format != nil, format != .json { throw ValidationError("--json and --format say different things.") }
    }

    var chosen: RowFormat { format ?? (json ? .json : .table) }

    func writer(_ columns: [OutputColumn], _ links: LinkNames) -> any ResultWriter {
        let names = columns.map(\.name)
        return switch chosen {
        case .table: TableResultWriter(columns, links)
        case .json: JSONResultWriter(names, links.names, isArray: true)
        case .ndjson: JSONResultWriter(names, links.names, isArray: false)
        case .csv: CSVResultWriter(names, links.names)
        }
    }
}

/// Prints rows of values one by one.
protocol ResultWriter {
    mutating func row(_ cells: [PredicateOperand])
    /// Called once, after the last row.
    mutating func finish()
}

/// Prints aligned columns with a heading; numbers are aligned right.
struct TableResultWriter: ResultWriter {
    private let links: LinkNames
    private let headings: [String]
    /// The columns that are the object itself, whose name is not of interest beside its values.
    private let isObject: [Bool]
    private var columns: Columns?
    /// Rows kept until the widths of the columns are known.
    private var waiting: [[PredicateOperand]] = []
    private var count = 0
    private let style = Style.standard
    private static let sample = 200

    init(_ columns: [OutputColumn], _ links: LinkNames) {
        headings = columns.map(\.name)
        isObject = columns.map { $0.expression == .evaluatedObject }
        self.links = links
    }

    mutating func row(_ cells: [PredicateOperand]) {
        count += 1
        if columns != nil { return print(cells) }
        waiting.append(cells)
        if waiting.count == Self.sample { begin() }
    }

    private mutating func begin() {
        let alignments = headings.indices.map { column -> Columns.Alignment in
            let values = waiting.map { $0[column] }.filter { $0 != .one(.null) }
            return !values.isEmpty && values.allSatisfy(\.isNumber) ? .right : .left
        }
        let isFirm = headings.indices.map { column in
            alignments[column] == .right || waiting.allSatisfy { !$0[column].canBeCut }
        }
        columns = Columns(alignments, isFirm: isFirm, cutsToTerminal: true)
        columns?.add(headings.map { .init($0, .bold) })
        for row in waiting { print(row) }
        waiting = []
    }

    private mutating func print(_ cells: [PredicateOperand]) {
        let shown = zip(cells, isObject).map { cell, isObject -> Columns.Cell in
            switch cell {
            case .one(let value): .init(text(value, isObject), value.isNull ? .dim : nil)
            case .many(let values): .init(values.map { text($0, isObject) }.joined(separator: ", "))
            }
        }
        columns?.add(shown)
    }

    private func text(_ value: AttributeValue, _ isObject: Bool) -> String {
        ValueText.plain(value) { isObject ? links.names.name(of: $0) : links.label(of: $0) }
    }

    mutating func finish() {
        if columns == nil { begin() }
        columns?.flush()
        Output.shared.line(style(ValueText.count(count, "row"), .dim))
    }
}

/// Prints a JSON object for each row, in an array or one on each line. Keys have the order of the columns.
struct JSONResultWriter: ResultWriter {
    private let names: RecordedNames
    private let keys: [String]
    private let isArray: Bool
    private let date: (Date) -> String
    private var count = 0

    init(
        _ columns: [String], _ names: RecordedNames, isArray: Bool, date: @escaping (Date) -> String = ValueText.moment
    ) {
        keys = columns.map { JSONLine.quoted($0) + ":" }
        self.date = date
        self.names = names
        self.isArray = isArray
    }

    mutating func row(_ cells: [PredicateOperand]) {
        if isArray { Output.shared.text(count == 0 ? "[\n  " : ",\n  ") }
        if isArray { Output.shared.text(line(cells)) } else { Output.shared.line(line(cells)) }
        count += 1
    }

    /// An object of JSON for a row.
    func line(_ cells: [PredicateOperand]) -> String {
        var line = "{"
        for (key, cell) in zip(keys, cells) {
            if line.utf8.count > 1 { line += "," }
            line += key
            JSONLine.append(cell, to: &line) { value in JSONText.Value(value, date: date) { names.name(of: $0) } }
        }
        return line + "}"
    }

    mutating func finish() {
        if isArray { Output.shared.line(count == 0 ? "[]" : "\n]") }
    }
}

/// Prints a heading and a line for each row as RFC 4180 asks, but with line feeds; nil is an empty field.
struct CSVResultWriter: ResultWriter {
    private let names: RecordedNames

    let heading: String
    private let date: (Date) -> String
    private var isBegun = false

    init(_ columns: [String], _ names: RecordedNames, date: @escaping (Date) -> String = ValueText.moment) {
        self.names = names
        self.date = date
        heading = columns.map(CSVText.field).joined(separator: ",")
    }

    /// Prints the heading with the first row, so that an error comes without one.
    private mutating func begin() {
        if !isBegun { Output.shared.line(heading) }
        isBegun = true
    }

    mutating func row(_ cells: [PredicateOperand]) {
        begin()
        Output.shared.line(line(cells))
    }

    /// The fields of a row.
    func line(_ cells: [PredicateOperand]) -> String {
        let fields = cells.map { cell in
            if cell.members.allSatisfy(\.isNull) { return "" }
            let texts = cell.members.map { value in
                value.isNull ? "" : ValueText.exact(value, date: date) { names.name(of: $0) }
            }
            return CSVText.field(texts.joined(separator: ";"))
        }
        return fields.joined(separator: ",")
    }

    mutating func finish() { begin() }
}

extension PredicateOperand {
    fileprivate var isNumber: Bool {
        switch self {
        case .one(.integer), .one(.float), .one(.double), .one(.decimal): true
        default: false
        }
    }

    /// Whether the beginning of the text is of use without its end.
    fileprivate var canBeCut: Bool {
        switch self {
        case .many, .one(.string), .one(.url), .one(.composite), .one(.objectID): true
        default: false
        }
    }
}
