import ArgumentParser
import Foundation

/// `strata-bench tables RESULTS.json...`
struct TablesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables", abstract: "Prints the tables of one run, or of several as one, from their JSON.")

    @Argument(help: "The files that --json wrote; if a size comes twice, the last counts.")
    var results: [String]

    @Flag(help: "Prints the tables as Markdown.")
    var markdown = false

    func run() throws {
        let reports = try results.map { path in
            try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: path)))
        }
        guard var report = reports.last else { return }
        var sizes: [Int: SizeReport] = [:]
        for size in reports.flatMap(\.sizes) { sizes[size.movies] = size }
        report.sizes = sizes.values.sorted { $0.movies < $1.movies }
        print(ReportText(report: report, style: markdown ? .markdown : .terminal).text, terminator: "")
    }
}
