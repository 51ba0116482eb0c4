import Foundation
import LMDB
import StrataModel

// Ranking is BM25 (S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009) with the
// numbers and the treatment of frequent words of SQLite's FTS5: k1 = 1.2, b = 0.75; a word in more than half of the texts
// still counts a little.

/// The numbers on which ranks depend: those of all texts, and of each phrase in them.
struct TextStatistics {
    private static let k1 = 1.2
    private static let b = 0.75
    private static let least = 1e-6

    private let weights: [Double]
    private let averageLength: Double

    /// - Parameters:
    ///   - objects: the number of texts.
    ///   - words: the number of words in all of them.
    ///   - found: the number of texts in which each phrase occurs.
    init(objects: Int, words: Int, found: [Int]) {
        averageLength = objects > 0 ? max(Double(words) / Double(objects), 1e-9) : 1
        weights = found.map { count in
            let weight = log((Double(objects) - Double(count) + 0.5) / (Double(count) + 0.5))
            return weight > 0 ? weight : Self.least
        }
    }

    /// The part of a text's rank that a phrase adds.
    @inline(__always)
    func part(_ phrase: Int, frequency: Int, length: Int) -> Double {
        let frequency = Double(frequency)
        let norm = Self.k1 * (1 - Self.b + Self.b * Double(length) / averageLength)
        return weights[phrase] * (frequency * (Self.k1 + 1) / (frequency + norm))
    }
}

/// Finds the objects of a query in the table, phrase by phrase and part by part.
struct TextSearch {
    let query: FullTextQuery
    let text: PreparedText
    let table: Table
    let snapshot: Snapshot
    /// Objects that are not as the table has them.
    let hidden: TextGroupSet
    /// The attributes of each phrase; nil for all.
    let columns: [[Int]?]

    /// A part of the query with the objects that it finds.
    final class Part {
        enum Kind {
            case phrase(Int)
            case near([(phrase: Int, matches: TextMatches)])
            case all([Part])
            case any([Part])
            case without(Part)
            case nothing
        }

        let kind: Kind
        let matches: TextMatches

        init(_ kind: Kind, _ matches: TextMatches) {
            self.kind = kind
            self.matches = matches
        }

        /// Moves all parts to a group; groups come in order.
        func move(to group: UInt64) -> Bool {
            switch kind {
            case .phrase, .nothing: break
            case .near(let phrases): for phrase in phrases { _ = phrase.matches.move(to: group) }
            case .all(let parts), .any(let parts): for part in parts { part.isHere = part.move(to: group) }
            case .without(let part): part.isHere = part.move(to: group)
            }
            isHere = matches.move(to: group)
            return isHere
        }

        /// Whether the list has objects in the current group.
        private var isHere = false

        /// The rank of an object of the group moved to; 0 if the part does not hold.
        func rank(_ member: UInt8, _ length: Int, _ statistics: TextStatistics) -> Double {
            guard isHere, matches.contains(member) else { return 0 }
            switch kind {
            case .nothing: return 0
            case .phrase(let phrase):
                return statistics.part(phrase, frequency: matches.count(member), length: length)
            case .near(let phrases):
                return phrases.reduce(0) {
                    $0 + statistics.part($1.phrase, frequency: $1.matches.count(member), length: length)
                }
            case .all(let parts), .any(let parts):
                return parts.reduce(0) { $0 + $1.rank(member, length, statistics) }
            case .without(let part): return part.rank(member, length, statistics)
            }
        }
    }

    /// Runs the whole query; returns its result, and the number of texts in which each phrase occurs.
    func run() throws -> (part: Part, found: [Int]) {
        let words = try query.words.map { try TextWordList($0, text, table, snapshot, hidden: hidden) }
        let phrases = try query.phrases.indices.map { try phrase($0, words) }
        return (try part(query.root, phrases, words), phrases.map(\.set.count))
    }

    private func part(_ node: TextNode, _ phrases: [TextMatches], _ words: [TextWordList]) throws -> Part {
        switch node {
        case .nothing: return Part(.nothing, TextMatches(TextGroupSet()))
        case .phrase(let phrase): return Part(.phrase(phrase), phrases[phrase])
        case .near(let list, let distance): return try near(list, distance, phrases, words)
        case .and(let nodes):
            let parts = try nodes.map { try part($0, phrases, words) }
            var set = parts[0].matches.set
            for part in parts.dropFirst() { set = set.intersection(part.matches.set) }
            return Part(.all(parts), TextMatches(set))
        case .or(let nodes):
            let parts = try nodes.map { try part($0, phrases, words) }
            var set = parts[0].matches.set
            for part in parts.dropFirst() { set = set.union(part.matches.set) }
            return Part(.any(parts), TextMatches(set))
        case .not(let left, let right):
            let (left, right) = (try part(left, phrases, words), try part(right, phrases, words))
            return Part(.without(left), TextMatches(left.matches.set.subtracting(right.matches.set)))
        }
    }

    // MARK: Phrases

    private func phrase(_ number: Int, _ words: [TextWordList]) throws -> TextMatches {
        let phrase = query.phrases[number]
        if phrase.words.count == 1, !phrase.isInitial, columns[number] == nil {
            return TextMatches(words[phrase.words.lowerBound])
        }
        let lists = phrase.words.map { words[$0] }
        var candidates = lists[0].matches
        for list in lists.dropFirst() { candidates = candidates.intersection(list.matches) }
        var builder = TextDocsBuilder()
        try forEachGroup(of: candidates, phrase.words, words) { group, members, occurrences in
            let found = query.positions(of: number, occurrences, columns: columns[number])
            return found.isEmpty ? nil : UInt32(found.count)
        } finish: { group, members, counts in
            builder.append(group, members, counts)
        }
        return builder.finish()
    }

    private func near(
        _ list: [Int], _ distance: Int, _ phrases: [TextMatches], _ words: [TextWordList]
    ) throws -> Part {
        var candidates = phrases[list[0]].set
        for phrase in list.dropFirst() { candidates = candidates.intersection(phrases[phrase].set) }
        let numbers = list.flatMap { Array(query.phrases[$0].words) }
        var builders = list.map { _ in TextDocsBuilder() }
        var kept: [[UInt32]] = list.map { _ in [] }
        var set = TextGroupSet()
        try forEachGroup(of: candidates, numbers, words, weight: list.count) { _, _, occurrences in
            let places = list.map { query.positions(of: $0, occurrences, columns: columns[$0]) }
            let found = query.near(list, distance: distance, places)
            guard found.allSatisfy({ !$0.isEmpty }) else { return nil }
            for (index, places) in found.enumerated() { kept[index].append(UInt32(places.count)) }
            return 1
        } finish: { group, members, _ in
            set.append(group, members)
            for index in list.indices {
                builders[index].append(group, members, kept[index])
                kept[index].removeAll(keepingCapacity: true)
            }
        }
        let matches = zip(list, builders).map { (phrase: $0, matches: $1.finish()) }
        return Part(.near(matches), TextMatches(set))
    }

    /// Reads the positions of words in each object of a set.
    ///
    /// - Parameters:
    ///   - weight: the work of `judge` for each position.
    ///   - judge: is given the positions of the words, by their numbers in the query; returns nil for an object that is
    ///     not found.
    ///   - finish: is given the found objects of a group, and the result of `judge` for each.
    private func forEachGroup(
        of candidates: TextGroupSet, _ numbers: some Collection<Int>, _ words: [TextWordList], weight: Int = 1,
        _ judge: (UInt64, UInt8, FullTextQuery.Occurrences) -> UInt32?,
        finish: (UInt64, GroupBits, [UInt32]) -> Void
    ) throws {
        var occurrences = FullTextQuery.Occurrences(repeating: [], count: words.count)
        var indexes = Array(repeating: 0, count: words.count)
        var counts: [UInt32] = []
        for (group, members) in zip(candidates.groups, candidates.bits) {
            var readers: [(word: Int, reader: TextWordList.PositionReader)] = []
            for word in numbers {
                let groups = words[word].matches.groups
                while groups[indexes[word]] < group { indexes[word] += 1 }
                readers.append((word, TextWordList.PositionReader(words[word], indexes[word])))
            }
            var found = GroupBits.zero
            counts.removeAll(keepingCapacity: true)
            try members.forEachMember { member in
                var work = 1
                for index in readers.indices {
                    let word = readers[index].word
                    do throws(CorruptRecord) {
                        try readers[index].reader.read(member, into: &occurrences[word])
                    } catch {
                        throw StrataError.corrupt(error, "viewTexts", text.context)
                    }
                    work += occurrences[word].count * weight
                }
                try snapshot.spend(values: work)
                guard let count = judge(group, member, occurrences) else { return }
                found.insert(member)
                counts.append(count)
            }
            try snapshot.hold(counts.count * 4)
            finish(group, found, counts)
        }
    }
}
