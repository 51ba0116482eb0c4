import Foundation

/// Bars of Strata's time by each peer's, on a logarithmic scale: to the left of 1 Strata is faster.
struct Plot {
    private struct Row {
        let name: String
        let bars: [(peer: Peer, ratio: Double)]
    }

    private let title: String
    private let rows: [Row]

    private static let labels = 260.0
    private static let width = 900.0
    private static let right = 70.0
    private static let top = 86.0
    private static let barHeight = 9.0
    private static let gap = 14.0
    /// Colors that are visible on white and on black.
    private static let colours: [Peer: String] = [
        .lmdb: "#8c959f", .sqlite: "#4493f8", .grdb: "#db6d28", .tightGRDB: "#c69026", .propertyList: "#a371f7",
        .json: "#3fb950",
    ]

    init(report: SizeReport, machine: Machine) {
        title = "\(Quantity.count(report.movies)) movies, \(machine.processor), \(machine.date)"
        rows = report.lines.compactMap { line in
            let bars = line.figures.compactMap { figure in figure.ratio.map { (figure.peer, $0.median) } }
            return bars.isEmpty ? nil : Row(name: line.name.rawValue, bars: bars)
        }
    }

    private var peers: [Peer] {
        Peer.allCases.filter { peer in rows.contains { $0.bars.contains { $0.peer == peer } } }
    }

    /// Whole powers of ten that hold every ratio.
    private var powers: ClosedRange<Int> {
        let all = rows.flatMap { $0.bars.map(\.ratio) }.filter { $0 > 0 }
        let least = Int(log10(all.min() ?? 0.1).rounded(.down))
        return min(least, -1)...max(1, Int(log10(all.max() ?? 10).rounded(.up)))
    }

    private func x(_ ratio: Double) -> Double {
        let span = Double(powers.upperBound - powers.lowerBound)
        return Self.labels + (log10(ratio) - Double(powers.lowerBound)) / span * (Self.width - Self.labels - Self.right)
    }

    private var height: Double {
        rows.reduce(Self.top + 20) { $0 + Double($1.bars.count) * Self.barHeight + Self.gap }
    }

    var svg: String {
        var parts = [head, legend, scale]
        var y = Self.top
        for row in rows {
            let tall = Double(row.bars.count) * Self.barHeight
            parts.append(text(row.name, Self.labels - 10, y + tall / 2 + 4, anchor: "end"))
            for bar in row.bars {
                let (from, to) = (min(x(bar.ratio), x(1)), max(x(bar.ratio), x(1)))
                let colour = Self.colours[bar.peer] ?? "#8c959f"
                parts.append(
                    """
                    <rect x="\(number(from))" y="\(number(y))" width="\(number(max(1, to - from)))" \
                    height="\(number(Self.barHeight - 2))" fill="\(colour)"/>
                    """)
                let end = bar.ratio < 1 ? (from - 4, "end") : (to + 4, "start")
                parts.append(text(Quantity.ratio(bar.ratio), end.0, y + 7, anchor: end.1, size: 8))
                y += Self.barHeight
            }
            y += Self.gap
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private var head: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Self.width)) \(number(height))" role="img" \
        aria-label="Strata's time by that of each peer" font-family="system-ui, sans-serif">
        <style>text { fill: #1f2328 } line { stroke: #8c959f; stroke-opacity: 0.4 } line.one { stroke-opacity: 1 }
        @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>
        \(text("Strata's time by that of each peer: left of 1 Strata is faster", 10, 20, size: 15))
        \(text(title, 10, 38, size: 10))
        """
    }

    private var legend: String {
        var (parts, left): ([String], Double) = ([], Self.labels)
        for peer in peers {
            let colour = Self.colours[peer] ?? "#8c959f"
            parts.append(
                "<rect x=\"\(number(left))\" y=\"48\" width=\"10\" height=\"10\" fill=\"\(colour)\"/>")
            parts.append(text(peer.rawValue, left + 14, 57, size: 11))
            left += 34 + Double(peer.rawValue.count) * 7
        }
        return parts.joined(separator: "\n")
    }

    private var scale: String {
        powers.map { power in
            let position = x(pow(10, Double(power)))
            let name = power < 0 ? "1/\(Int(pow(10, Double(-power))))" : "\(Int(pow(10, Double(power))))"
            return """
                <line x1="\(number(position))" x2="\(number(position))" y1="\(number(Self.top - 6))" \
                y2="\(number(height - 8))"\(power == 0 ? " class=\"one\"" : "")/>
                \(text(name, position, Self.top - 10, anchor: "middle", size: 10))
                """
        }.joined(separator: "\n")
    }

    private func text(
        _ text: String, _ x: Double, _ y: Double, anchor: String = "start", size: Int = 11
    ) -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return """
            <text x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)" font-size="\(size)">\(escaped)</text>
            """
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
