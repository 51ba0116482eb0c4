/// The traversals, queries and structural changes of OO7 that are timed.
enum DesignOperation: String, CaseIterable {
    case t1 = "T1 every atomic part"
    case t2a = "T2a swap x, y of root parts"
    case t2b = "T2b of every part"
    case t2c = "T2c of every part, four times"
    case t3a = "T3a indexed date of root parts"
    case t3b = "T3b of every part"
    case t3c = "T3c of every part, four times"
    case t5 = "T5 texts changed and back"
    case t6 = "T6 root parts"
    case t8 = "T8 scan of the manual"
    case t9 = "T9 ends of the manual"
    case q1 = "Q1 ten parts by id"
    case q2 = "Q2 youngest 1 % of the parts"
    case q3 = "Q3 youngest 10 %"
    case q4 = "Q4 ten titles to their users"
    case q5 = "Q5 bases older than a part"
    case q6 = "Q6 and assemblies above them"
    case q7 = "Q7 every atomic part"
    case q8 = "Q8 documents joined to parts"
    case insert = "insert ten composite parts"
    case delete = "delete them"

    var isTraversal: Bool { rawValue.hasPrefix("T") }

    /// How often a traversal changes each part that it meets, and which attribute.
    var updates: (perVisit: Int, ofDate: Bool, rootOnly: Bool)? {
        switch self {
        case .t2a: (1, false, true)
        case .t2b: (1, false, false)
        case .t2c: (4, false, false)
        case .t3a: (1, true, true)
        case .t3b: (1, true, false)
        case .t3c: (4, true, false)
        default: nil
        }
    }

    /// The titles and ids that Q1 and Q4 ask for: the same in every run, as by the original's reseeding.
    static let picks = 10

    /// The count that the operation must return.
    func expected(_ design: Design) -> Int {
        let visits = design.bases.count * design.size.componentsPerAssembly
        let parts = visits * design.size.atomicPartsPerComposite
        if let updates { return (updates.rootOnly ? visits : parts) * updates.perVisit }
        return switch self {
        case .t1: parts
        case .t6: visits
        case .t5: 2 * design.usedComposites
        case .t8: design.manual.utf8.count { $0 == UInt8(ascii: "I") }
        case .t9: design.manual.utf8.first == design.manual.utf8.last ? 1 : 0
        case .q1: Self.picks
        // Dates of atomic parts are 1000..1999.
        case .q2: design.parts(from: 1990)
        case .q3: design.parts(from: 1900)
        case .q4: Self.titles(design).reduce(0) { $0 + design.uses(ofComposite: $1) }
        case .q5: design.outdatedBases
        case .q6: design.outdatedAssemblies
        case .q7, .q8: design.partCount
        case .insert, .delete: Self.picks
        default: 0
        }
    }

    static func titles(_ design: Design) -> [Int] {
        var random = Random(seed: 4)
        return (0..<picks).map { _ in Int.random(in: 1...design.composites.count, using: &random) }
    }

    static func parts(_ design: Design) -> [Int] {
        var random = Random(seed: 1)
        return (0..<picks).map { _ in Int.random(in: 1...design.partCount, using: &random) }
    }

    /// The composite parts to insert, and the index of the base assembly that each goes to.
    static func insertions(_ design: Design) -> [(composite: DesignComposite, base: Design.Assembly)] {
        var random = Random(seed: 9)
        let bases = design.bases
        return (1...picks).map { number in
            let composite = DesignComposite(id: design.composites.count + number, design.size, &random)
            return (composite, bases[Int.random(in: bases.indices, using: &random)])
        }
    }
}

/// A store of one design that can do every operation.
protocol DesignPeer: AnyObject {
    /// Closes the store and opens it again, so that only the system's cache of the file stays.
    func reopen() throws
    /// - Returns: the count that the operation's definition asks for.
    func run(_ operation: DesignOperation) throws -> Int
    /// A number that depends on every atomic part, and the number of objects of each kind.
    func summary() throws -> [Int]
}

/// Does nothing with a visited part, in a way that the compiler cannot see.
@inline(never)
func doNothing(_ x: Int, _ y: Int) -> Int { x &+ y }
