import Foundation
import StrataModel
import StrataStore

/// The whole table that a page shows in parts, as a file of comma-separated values or JSON.
///
/// Parameters: those of the table without `offset` and `limit`, and `as`, `csv` (usual) or `json`.
enum ExportAnswer {
    private static let mostRows = 100_000
    private static let mostBytes = 256 << 20
    private static let slice = 1000

    private enum Format: String {
        case csv, json

        var contentType: String {
            switch self {
            case .csv: "text/csv; charset=utf-8"
            case .json: "application/json; charset=utf-8"
            }
        }
    }

    static func answer(_ name: String, _ reading: StudioReading) throws -> StudioAnswer {
        guard let format = Format(rawValue: try reading.text("as") ?? "csv") else {
            throw StudioProblem(400, "as is csv or json.", field: "as")
        }
        let table = try StudioTable(name, reading)
        let ids = try reading.read { try table.ids(table.sorted, in: $0) }
        guard ids.count <= mostRows else {
            throw StudioProblem(
                422,
                "These are \(ValueText.count(ids.count)) objects, and a file has at most \(ValueText.count(mostRows)). "
                    + "Narrow the filter, or use 'strata query'.")
        }
        let body = try lines(table, ids, format, reading)
        return StudioAnswer(
            contentType: format.contentType, body: body, fileName: "\(table.entity.name).\(format.rawValue)")
    }

    private static func lines(
        _ table: StudioTable, _ ids: [ObjectID], _ format: Format, _ reading: StudioReading
    ) throws -> Data {
        let names = ["object"] + table.columns.map(\.name)
        let csv = CSVResultWriter(names, reading.names, date: DateText.exact)
        let json = JSONResultWriter(names, reading.names, isArray: true, date: DateText.exact)
        var body = Data((format == .csv ? csv.heading + "\n" : "[\n").utf8)
        for start in stride(from: 0, to: ids.count, by: slice) {
            try reading.checkCancellation()
            let part = Array(ids[start..<min(start + slice, ids.count)])
            for (index, row) in try reading.read({ try table.rows(of: part, in: $0) }).enumerated() {
                let cells = [.one(.objectID(row.object))] + row.cells
                switch format {
                case .csv: body.append(contentsOf: (csv.line(cells) + "\n").utf8)
                case .json: body.append(contentsOf: ((start + index == 0 ? "  " : ",\n  ") + json.line(cells)).utf8)
                }
            }
            guard body.count <= mostBytes else {
                throw StudioProblem(422, "The file would be larger than 256 MiB. Choose fewer columns or objects.")
            }
        }
        if format == .json { body.append(contentsOf: (ids.isEmpty ? "]\n" : "\n]\n").utf8) }
        return body
    }
}
