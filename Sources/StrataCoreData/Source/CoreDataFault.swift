/// Something in a file of Core Data that its own model forbids.
public struct CoreDataFault: Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A to-one or a pair whose key leads to no object. The link is left out.
        case danglingKey
        /// A one-to-one whose two ends disagree. An end without a partner is completed; otherwise the link is left out.
        case oneSidedLink
        /// A pair that the file has twice. It is imported once.
        case repeatedLink
        /// A place in an ordered list that is missing, that another member has too, or that none can have. The members
        /// stand by their places and then by their keys, as SQLite sorts them.
        case unsoundPlace
        /// A required property without a value. The default of the model is set, if it has one.
        case missingValue
        /// A value that its type cannot hold, or of another type than Core Data writes. It is left out, or its readable
        /// part is taken.
        case unsoundValue
        /// A value in a column of an entity that the row is not of, or of no property of the model, or a link in a table
        /// of no relationship. It is left out.
        case strayValue
        /// A value that breaks a rule of the model. It is imported.
        case brokenRule
        /// Objects with the same unique values. They are imported, and the constraint is left out of the model.
        case notUnique
        /// A row of an entity that the model does not have. It is left out.
        case unknownEntity
        /// A row whose entity's number is not that of its table's only entity, or a link that gives its target's entity
        /// another number than the target does. The table and the target count.
        case wrongEntity
        /// An entity of the model whose table the file has lost. Its objects are missing.
        case missingTable
        /// Changes in the log beside the file (`-wal`) that cannot be read, and are left out. Or changes of a transaction
        /// that was not completed, which the log (`-journal`) cannot take back.
        case lostChanges
    }

    /// The kind of fault.
    public let kind: Kind
    /// The name of the entity; of the file beside the store for changes that are lost.
    public let entityName: String
    /// The key of the row in the file, or the number that it got if its key is no whole number; nil for a fault of several
    /// rows.
    public let key: Int64?
    /// The name of the property, or of several with commas.
    public let property: String?
    /// The fault, as a phrase.
    public let sentence: String
    /// The import's treatment of it, as a phrase.
    public internal(set) var outcome: String

    /// The row, the property and the phrases.
    public var description: String { "\(finding); \(outcome)" }

    /// The row, the property and the fault.
    var finding: String {
        let row = key.map { "\(entityName)/p\($0)" } ?? entityName
        return "\(row)\(property.map { ".\($0)" } ?? "") \(sentence)"
    }
}

/// The treatment of faults in the data by an import.
public enum CoreDataFaultTreatment: String, Sendable, Hashable, CaseIterable {
    /// Makes no store if there is any fault.
    case refuse
    /// Repairs faults for which there is a rule, and lists all faults.
    case repair
    /// Imports faulty data unchanged where possible, and lists all faults.
    case list
}

/// The outcomes of faults, in the words of reports.
enum FaultOutcome {
    static let leftOut = "it is left out"
    static let allLeftOut = "they are left out"
    static let linkLeftOut = "the link is left out"
    static let linkSet = "the link is set at both ends"
    static let defaultSet = "the default is set"
}

/// Counts faults, and keeps the first of each kind.
struct FaultList {
    /// The number of faults of each kind that are kept.
    static let keptOfEach = 100

    /// Facts that are counted for each attribute, without being faults.
    enum Remark: String {
        case rounded = "had more digits than a Float keeps; the nearest Float is taken"
        case unmarked = "had no mark of where the bytes are; all bytes of the column are taken"
    }

    private struct Place: Hashable {
        let property: String
        let remark: Remark
    }

    private let treatment: CoreDataFaultTreatment
    private(set) var counts: [CoreDataFault.Kind: Int] = [:]
    private(set) var faults: [CoreDataFault] = []
    private var kept: [CoreDataFault.Kind: Int] = [:]
    private var remarks: [Place: Int] = [:]

    init(_ treatment: CoreDataFaultTreatment) { self.treatment = treatment }

    /// - Parameter count: the number of faults that this one represents.
    mutating func add(_ fault: CoreDataFault, count: Int = 1) {
        counts[fault.kind, default: 0] += count
        kept[fault.kind, default: 0] += 1
        guard kept[fault.kind, default: 0] <= Self.keptOfEach else { return }
        var fault = fault
        if treatment == .refuse { fault.outcome = "the import is refused" }
        faults.append(fault)
    }

    /// Counts a value that is imported in another form than that of the file.
    mutating func note(_ remark: Remark, of property: String) {
        remarks[Place(property: property, remark: remark), default: 0] += 1
    }

    var count: Int { counts.values.reduce(0, +) }

    /// A phrase for each attribute with remarks.
    var notes: [String] {
        remarks.map { place, count in
            "\(place.property): \(count == 1 ? "1 value" : "\(count) values") \(place.remark.rawValue)"
        }.sorted()
    }
}
