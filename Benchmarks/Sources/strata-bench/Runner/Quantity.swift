import Foundation

/// How numbers are written in tables.
enum Quantity {
    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<100: String(format: "%.1f ns", nanoseconds)
        case ..<1000: String(format: "%.0f ns", nanoseconds)
        case ..<1_000_000: String(format: "%.2f us", nanoseconds / 1e3)
        case ..<1e9: String(format: "%.2f ms", nanoseconds / 1e6)
        default: String(format: "%.2f s", nanoseconds / 1e9)
        }
    }

    static func ratio(_ ratio: Double) -> String { String(format: ratio < 0.095 ? "%.3f" : "%.2f", ratio) }

    static func ratio(_ ratio: Spread) -> String {
        "\(Self.ratio(ratio.median)) (\(Self.ratio(ratio.lower))-\(Self.ratio(ratio.upper)))"
    }

    static func bytes(_ bytes: Int) -> String {
        bytes < 10_000_000
            ? String(format: "%.2f MB", Double(bytes) / 1e6) : String(format: "%.0f MB", Double(bytes) / 1e6)
    }

    static func count(_ number: Int) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
