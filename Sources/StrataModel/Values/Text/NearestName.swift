/// Finds the name that somebody may have meant.
package enum NearestName {
    /// The name with the fewest changed letters, case aside; nil when even that differs in more than a third.
    package static func of(_ name: String, among names: [String]) -> String? {
        let wanted = Array(name.lowercased().prefix(64))
        let best = names.map { (name: $0, distance: distance(wanted, Array($0.lowercased().prefix(64)))) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        guard let best, best.distance <= max(1, (wanted.count + 2) / 3) else { return nil }
        return best.name
    }

    /// Letters to insert, drop or change (V. Levenshtein, 1966).
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(diagonal + (letter == other ? 0 : 1), above + 1, row[column] + 1)
                diagonal = above
            }
        }
        return row[right.count]
    }
}
