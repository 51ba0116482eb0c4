/// Finds the known name that is closest to a misspelled one, for error messages.
package enum NearestName {
    /// `; did you mean title?`, for the end of a sentence; a period if no name is close.
    package static func ending(for name: String, among names: [String]) -> String {
        of(name, among: names).map { "; did you mean \($0)?" } ?? "."
    }

    /// ` (did you mean title?)`, for the middle of a sentence; empty if no name is close.
    package static func aside(for name: String, among names: [String]) -> String {
        of(name, among: names).map { " (did you mean \($0)?)" } ?? ""
    }

    /// The name that differs in the fewest letters, ignoring case. If more than a third of the letters differ, or all, it
    /// is the shortest name that begins with all of them; nil if there is none.
    package static func of(_ name: String, among names: [String]) -> String? {
        let wanted = Array(name.lowercased().prefix(64))
        let best = names.map { (name: $0, distance: distance(wanted, Array($0.lowercased().prefix(64)))) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        guard let best, best.distance <= max(1, (wanted.count + 2) / 3),
            best.distance < wanted.count
        else { return shortest(beginningWith: name.lowercased(), names) }
        return best.name
    }

    private static func shortest(beginningWith letters: String, _ names: [String]) -> String? {
        guard letters.count > 1 else { return nil }
        return names.filter { $0.lowercased().hasPrefix(letters) }.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// The number of letters to insert, delete or replace (V. Levenshtein, 1966).
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(diagonal + (letter == other ? 0 : 1), above + 1, row[column] + 1)
                diagonal = above
            }
        }
        return row[right.count]
    }
}
