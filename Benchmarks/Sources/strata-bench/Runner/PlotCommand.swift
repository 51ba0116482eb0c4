import ArgumentParser
import Foundation

/// `strata-bench plot RESULTS.json OUT.svg`
struct PlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot", abstract: "Draws a run's ratios as an SVG.",
        discussion: "RESULTS.json is what `strata-bench --json` wrote.")

    @Argument(help: "The file that --json wrote.")
    var results: String

    @Argument(help: "The SVG to write.")
    var output: String

    @Option(help: "The size to draw; the largest if none is given.")
    var size: Int?

    func run() throws {
        let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: results)))
        let sizes = report.sizes.sorted { $0.movies < $1.movies }
        guard let drawn = size.map({ size in sizes.first { $0.movies == size } }) ?? sizes.last else {
            throw ValidationError("The results have no such size.")
        }
        try Plot(report: drawn, machine: report.machine).svg.write(
            to: URL(filePath: output), atomically: true, encoding: .utf8)
    }
}
