import Foundation

/// The parameters of OO7 that its sizes vary (Carey, DeWitt, Naughton: The OO7 Benchmark, SIGMOD 1993).
struct DesignSize {
    let name: String
    let atomicPartsPerComposite: Int
    let documentBytes: Int
    let manualBytes: Int
    var connectionsPerPart = 3
    let composites = 500
    let assembliesPerAssembly = 3
    let levels = 7
    let componentsPerAssembly = 3

    static let all = [
        DesignSize(name: "small", atomicPartsPerComposite: 20, documentBytes: 2_000, manualBytes: 100_000),
        DesignSize(name: "medium", atomicPartsPerComposite: 200, documentBytes: 20_000, manualBytes: 1_000_000),
    ]
}

/// One composite part with its document, its atomic parts and the edges between these, as values.
struct DesignComposite {
    struct Part {
        let id, date, x, y, document: Int
        let type: String
    }
    struct Edge {
        /// Indices in `parts`.
        let from, to: Int
        let type: String
        let length: Int
    }

    let id, date: Int
    let type: String
    let parts: [Part]
    let edges: [Edge]
    let text: String
    var title: String { String(format: "Composite Part %08d", id) }

    /// Nine tenths are old, 0..999, and one tenth young, 2000..2999; assemblies have 1000..1999.
    var isYoung: Bool { id.isMultiple(of: 10) }

    /// - Parameter id: from 1; the ids of the parts follow from it.
    init(id: Int, _ size: DesignSize, _ random: inout Random) {
        let count = size.atomicPartsPerComposite
        self.id = id
        type = Self.type(&random)
        date = Int.random(in: 0..<1000, using: &random) + (id.isMultiple(of: 10) ? 2000 : 0)
        parts = (0..<count).map { index in
            Part(
                id: (id - 1) * count + index + 1, date: Int.random(in: 1000..<2000, using: &random),
                x: Int.random(in: 0..<100_000, using: &random), y: Int.random(in: 0..<100_000, using: &random),
                document: Int.random(in: 1...size.composites, using: &random), type: Self.type(&random))
        }
        var edges: [Edge] = []
        for from in 0..<count {
            // A ring, so that every part can be reached from the first; the others lead anywhere in the composite part.
            for number in 0..<size.connectionsPerPart {
                let to = number == 0 ? (from + 1) % count : Int.random(in: 0..<count, using: &random)
                let length = Int.random(in: 0..<1000, using: &random)
                edges.append(Edge(from: from, to: to, type: Self.type(&random), length: length))
            }
        }
        self.edges = edges
        text = Self.text(
            "I am the documentation for composite part #\(String(format: "%08d", id)).\n", size.documentBytes)
    }

    static func type(_ random: inout Random) -> String {
        String(format: "type%03d", Int.random(in: 1...10, using: &random))
    }

    static func text(_ sentence: String, _ bytes: Int) -> String {
        String(String(repeating: sentence, count: bytes / sentence.utf8.count + 1).prefix(bytes))
    }
}

/// One module of OO7 as values: what both peers store, and what the counts must be.
///
/// A base assembly's private components are three different composite parts, and so are its shared ones: the paper
/// draws with replacement, which a relationship that is a set would merge.
struct Design {
    struct Assembly {
        let id, date: Int
        let type: String
        /// The index of the parent; nil for the root.
        let parent: Int?
        /// Ids of composite parts; none for an inner node.
        var priv: [Int] = []
        var shared: [Int] = []
        let isBase: Bool
    }

    let size: DesignSize
    let composites: [DesignComposite]
    /// Parents before children; the root is the first.
    let assemblies: [Assembly]
    let manual: String

    init(_ size: DesignSize) {
        var random = Random(seed: 7)
        self.size = size
        composites = (1...size.composites).map { DesignComposite(id: $0, size, &random) }
        manual = DesignComposite.text("I am the manual for module #00000001.\n", size.manualBytes)
        var assemblies: [Assembly] = []
        var level: [Int?] = [nil]
        for number in (1...size.levels).reversed() {
            var next: [Int?] = []
            for parent in level {
                var assembly = Assembly(
                    id: assemblies.count + 1, date: Int.random(in: 1000..<2000, using: &random),
                    type: DesignComposite.type(&random), parent: parent, isBase: number == 1)
                if assembly.isBase {
                    assembly.priv = Self.components(size, &random)
                    assembly.shared = Self.components(size, &random)
                } else {
                    next += Array(repeating: assemblies.count, count: size.assembliesPerAssembly)
                }
                assemblies.append(assembly)
            }
            level = next
        }
        self.assemblies = assemblies
    }

    private static func components(_ size: DesignSize, _ random: inout Random) -> [Int] {
        var picked: [Int] = []
        while picked.count < size.componentsPerAssembly {
            let id = Int.random(in: 1...size.composites, using: &random)
            if !picked.contains(id) { picked.append(id) }
        }
        return picked
    }

    var bases: [Assembly] { assemblies.filter(\.isBase) }
    var partCount: Int { composites.count * size.atomicPartsPerComposite }

    /// The composite parts that the five traversals meet: the private components of all base assemblies.
    var usedComposites: Int { Set(bases.flatMap(\.priv)).count }

    func parts(from date: Int) -> Int {
        composites.reduce(0) { $0 + $1.parts.count { $0.date >= date } }
    }

    /// The base assemblies that use a part younger than they are.
    private func outdated() -> Set<Int> {
        Set(
            assemblies.indices.filter { index in
                (assemblies[index].priv + assemblies[index].shared).contains {
                    composites[$0 - 1].date > assemblies[index].date
                }
            })
    }

    var outdatedBases: Int { outdated().count }

    /// The same, and every assembly above them.
    var outdatedAssemblies: Int {
        var all = outdated()
        for index in assemblies.indices.reversed() where all.contains(index) {
            if let parent = assemblies[index].parent { all.insert(parent) }
        }
        return all.count
    }

    func uses(ofComposite id: Int) -> Int {
        bases.reduce(0) { $0 + ($1.priv.contains(id) ? 1 : 0) + ($1.shared.contains(id) ? 1 : 0) }
    }
}
