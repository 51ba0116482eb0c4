import Foundation

/// The text of a report, with its tables.
struct ReportText {
    let report: Report
    let style: TextTable.Style

    var text: String {
        var parts = [report.machine.text]
        for size in report.sizes {
            parts.append(heading("\(Quantity.count(size.movies)) movies"))
            parts += [lines(size), files(size), bars(size)].compactMap { $0 }
        }
        if let growth = GrowthTable(turns: [report.sizes])?.text(style), !growth.isEmpty {
            parts += [heading("Growth of the cost of an operation"), growth]
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func heading(_ text: String) -> String { style == .markdown ? "### \(text)" : "== \(text)" }

    // MARK: Lines

    private func lines(_ size: SizeReport) -> String? {
        let peers = Peer.allCases.filter { peer in
            peer != .strata && size.lines.contains { $0.figure(peer) != nil }
        }
        var table = TextTable(["", "Strata", "middle half"] + peers.map { "/ \($0.rawValue)" } + ["note"])
        for line in size.lines {
            guard let own = line.strata else { continue }
            let spread = line.rounds > 2 ? "\(Quantity.time(own.time.lower)) - \(Quantity.time(own.time.upper))" : ""
            let ratios = peers.map { line.figure($0)?.ratio.map { cell($0, line.rounds) } ?? "" }
            let memory = line.figures.compactMap { figure in
                figure.memoryBytes.map { "\(figure.peer.rawValue) \(Quantity.bytes($0))" }
            }
            let note = [line.note, memory.isEmpty ? nil : memory.joined(separator: ", ")].compactMap { $0 }
            table.add(
                [line.name.rawValue, Quantity.time(own.time.median), spread] + ratios + [note.joined(separator: "; ")])
        }
        return table.isEmpty ? nil : table.text(style)
    }

    private func cell(_ ratio: Spread, _ rounds: Int) -> String {
        rounds > 2 ? Quantity.ratio(ratio) : Quantity.ratio(ratio.median)
    }

    // MARK: Files

    private func files(_ size: SizeReport) -> String? {
        var table = TextTable(["files", "when", "on disk", "log", "views"])
        for file in size.files {
            table.add([
                file.what, file.moment, Quantity.bytes(file.bytes), file.logBytes.map(Quantity.bytes) ?? "",
                file.viewBytes.map(Quantity.bytes) ?? "",
            ])
        }
        return table.isEmpty ? nil : table.text(style)
    }

    // MARK: Bars

    private func bars(_ size: SizeReport) -> String? {
        var table = TextTable(["bar", "to reach", "aim", "measured", ""])
        for bar in size.bars {
            table.add([bar.name, bar.reach, bar.aim ?? "", bar.text, bar.isReached ? "reached" : "MISSED"])
        }
        return table.isEmpty ? nil : table.text(style)
    }
}
