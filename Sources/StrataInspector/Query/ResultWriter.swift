import ArgumentParser
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

    func writer(_ columns: [String], _ names: RecordedNames) -> any ResultWriter {
        switch chosen {
        case .table: TableResultWriter(columns, names)
        case .json: JSONResultWriter(columns, names, isArray: true)
        case .ndjson: JSONResultWriter(columns, names, isArray: false)
        case .csv: CSVResultWriter(columns, names)
        }
    }
}

/// Prints rows of values one by one.
protocol ResultWriter {
    mutating func row(_ values: some Sequence<AttributeValue>)
    /// Called once, after the last row.
    mutating func finish()
}

/// Prints aligned columns with a heading; numbers are aligned right.
struct TableResultWriter: ResultWriter {
    private let names: RecordedNames
    private let headings: [String]
    private var columns: Columns?
    /// Rows kept until the widths of the columns are known.
    private var waiting: [[AttributeValue]] = []
    private var count = 0
    private let style = Style.standard
    private static let sample = 200

    init(_ columns: [String], _ names: RecordedNames) {
        headings = columns
        self.names = names
    }

    mutating func row(_ values: some Sequence<AttributeValue>) {
        count += 1
        if columns != nil { return print(Array(values)) }
        waiting.append(Array(values))
        if waiting.count == Self.sample { begin() }
    }

    private mutating func begin() {
        let alignments = headings.indices.map { column -> Columns.Alignment in
            let values = waiting.map { $0[column] }.filter { !$0.isNull }
            return !values.isEmpty && values.allSatisfy(\.isNumber) ? .right : .left
        }
        columns = Columns(alignments, cutsToTerminal: true)
        columns?.add(headings.map { .init($0, .bold) })
        for row in waiting { print(row) }
        waiting = []
    }

    private mutating func print(_ values: [AttributeValue]) {
        columns?.add(
            values.map { .init(ValueText.plain($0) { names.name(of: $0) }, $0.isNull ? .dim : nil) })
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
    private var count = 0

    init(_ columns: [String], _ names: RecordedNames, isArray: Bool) {
        keys = columns.map { JSONLine.quoted($0) + ":" }
        self.names = names
        self.isArray = isArray
    }

    mutating func row(_ values: some Sequence<AttributeValue>) {
        if isArray { Output.shared.text(count == 0 ? "[\n  " : ",\n  ") }
        var line = "{"
        for (key, value) in zip(keys, values) {
            if line.utf8.count > 1 { line += "," }
            line += key
            JSONLine.append(JSONText.Value(value) { names.name(of: $0) }, to: &line)
        }
        line += "}"
        if isArray { Output.shared.text(line) } else { Output.shared.line(line) }
        count += 1
    }

    mutating func finish() {
        if isArray { Output.shared.line(count == 0 ? "[]" : "\n]") }
    }
}

/// Prints a heading and a line for each row as RFC 4180 asks, but with line feeds; nil is an empty field.
struct CSVResultWriter: ResultWriter {
    private let names: RecordedNames

    private let heading: String
    private var isBegun = false

    init(_ columns: [String], _ names: RecordedNames) {
        self.names = names
        heading = columns.map(CSVText.field).joined(separator: ",")
    }

    /// Prints the heading with the first row, so that an error comes without one.
    private mutating func begin() {
        if !isBegun { Output.shared.line(heading) }
        isBegun = true
    }

    mutating func row(_ values: some Sequence<AttributeValue>) {
        begin()
        let fields = values.map { value in
            value.isNull ? "" : CSVText.field(ValueText.exact(value) { names.name(of: $0) })
        }
        Output.shared.line(fields.joined(separator: ","))
    }

    mutating func finish() { begin() }
}

extension AttributeValue {
    var isNumber: Bool {
        switch self {
        case .integer, .float, .double, .decimal: true
        default: false
        }
    }
}
