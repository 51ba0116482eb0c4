/// The result of comparing a file of Core Data with a store: how much of the file is in the store.
package struct CoreDataComparison: Sendable {
    /// The number of equal ones, and of all.
    package struct Count: Sendable, Equatable {
        package var equal = 0
        package var total = 0

        mutating func note(_ isEqual: Bool) {
            total += 1
            if isEqual { equal += 1 }
        }
    }

    /// How many differences are described.
    static let described = 100

    package var rows = Count()
    package var values = Count()
    /// To-ones, members of to-manys, and their order.
    package var links = Count()
    /// Values that the store computes itself.
    package var derived = Count()
    /// Objects of the store that are not in the file.
    package var additional = 0
    /// The first differences, a phrase each.
    package private(set) var differences: [String] = []
    package private(set) var differenceCount = 0
    /// What an import leaves out or changes because of a fault in the file, and what the store has accordingly.
    package private(set) var faultCounts: [CoreDataFault.Kind: Int] = [:]

    /// Whether everything in the file belongs to a row or a link. False for changes that cannot be read, and for values
    /// and links of no property of their row.
    package var isWhole = true

    /// Keys that lead to no object do not count, because no store can have their links, and neither do links that the
    /// file has at one end only: the store has each at both.
    package var isEqual: Bool { rows.equal == rows.total && links.equal == links.total && isWhole }

    /// Keys of the file that lead to no object.
    package var danglingKeys: Int { faultCounts[.danglingKey] ?? 0 }

    /// Links of one-to-ones that the file has at one end only.
    package private(set) var completedLinks = 0

    /// A sentence for each kind of fault: what the import left out or changed, why, and whether it counts as different.
    package var explanations: [String] {
        faultCounts.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { kind, count in
            guard kind == .oneSidedLink else {
                return [Self.explanation(kind, count, Self.words(of: kind), isDifferent: kind != .danglingKey)]
            }
            let words = ("link", "links", "set at both ends, because the file has one end only")
            let leftOut = count - completedLinks
            var lines: [String] = []
            if completedLinks > 0 {
                lines.append(Self.explanation(kind, completedLinks, words, isDifferent: false))
            }
            if leftOut > 0 { lines.append(Self.explanation(kind, leftOut, Self.words(of: kind), isDifferent: true)) }
            return lines
        }
    }

    private static func explanation(
        _ kind: CoreDataFault.Kind, _ count: Int, _ words: (one: String, several: String, reason: String),
        isDifferent: Bool
    ) -> String {
        let verdict = isDifferent ? "counted as different" : "not counted as different"
        return "\(kind.rawValue): \(count) \(count == 1 ? words.one : words.several) \(words.reason); \(verdict)"
    }

    private static func words(of kind: CoreDataFault.Kind) -> (one: String, several: String, reason: String) {
        switch kind {
        case .danglingKey: ("link", "links", "left out, because the key leads to no object")
        case .oneSidedLink: ("link", "links", "left out, because the two ends disagree in the file")
        case .missingValue: ("value", "values", "set to the model's default, because a required value is missing")
        case .unsoundValue: ("value", "values", "left out or changed, because it is not what the model says")
        case .strayValue: ("value", "values", "left out, because no property of the row has the column")
        case .unknownEntity: ("row", "rows", "left out, because the model has no entity for it")
        case .wrongEntity: ("link", "links", "left out, because the relationship does not lead to the target's entity")
        case .missingTable: ("entity", "entities", "without objects, because the file has lost the table")
        case .lostChanges: ("log", "logs", "of changes left out, because it cannot be read")
        case .repeatedLink, .unsoundPlace, .brokenRule, .notUnique: ("fault", "faults", "of the file")
        }
    }

    /// Notes a difference that no fault of the file explains.
    mutating func differ(_ sentence: @autoclosure () -> String) {
        differenceCount += 1
        if differences.count < Self.described { differences.append(sentence()) }
    }

    /// Notes a difference that an import makes because of a fault in the file.
    ///
    /// - Parameter count: how many rows, values or links the fault stands for.
    mutating func differ(_ fault: CoreDataFault, count: Int = 1) {
        faultCounts[fault.kind, default: 0] += count
        differ(fault.description)
    }

    /// Counts a link that the file has at its other end only.
    mutating func noteCompletedLink() {
        completedLinks += 1
        faultCounts[.oneSidedLink, default: 0] += 1
    }

    /// Counts keys that lead to no object.
    mutating func noteDanglingKeys(_ count: Int) {
        if count > 0 { faultCounts[.danglingKey, default: 0] += count }
    }
}
