/// Something in a file of Core Data that its own model forbids.
public struct CoreDataFault: Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A to-one or a pair whose key leads to no object. The link is left out.
        case danglingKey
        /// A one-to-one whose two ends disagree. An end without a partner is completed; otherwise the link is left out.
        case oneSidedLink
        /// A required property without a value. The default of the model is set, if it has one.
        case missingValue
        /// A value that its type cannot hold. It is left out, or what can be read of it is taken.
        case unsoundValue
        /// A value that breaks a rule of the model. It comes over.
        case brokenRule
        /// Objects with the same unique values. They come over, and the constraint is left out of the model.
        case notUnique
        /// A row of an entity that the model does not have. It is left out.
        case unknownEntity
        /// An entity of the model whose table the file has lost. Its objects are missing.
        case missingTable
    }

    /// The kind of fault.
    public let kind: Kind
    /// The name of the entity.
    public let entityName: String
    /// The key of the row in the file; nil for a fault of several rows.
    public let key: Int64?
    /// The name of the property, or of several with commas.
    public let property: String?
    /// What is wrong, as a phrase.
    public let sentence: String

    /// The row, the property and the phrase.
    public var description: String {
        let row = key.map { "\(entityName)/p\($0)" } ?? entityName
        return "\(row)\(property.map { ".\($0)" } ?? "") \(sentence)"
    }
}

/// What an import does with faults in the data.
public enum CoreDataFaultTreatment: String, Sendable, Hashable, CaseIterable {
    /// Makes no store if there is any fault.
    case refuse
    /// Repairs what has a rule for it, and lists all faults.
    case repair
    /// Brings over what can be brought over as it is, and lists all faults.
    case list
}

/// Counts faults, and keeps the first of each kind.
struct FaultList {
    /// How many of each kind are kept.
    static let keptOfEach = 100

    private(set) var counts: [CoreDataFault.Kind: Int] = [:]
    private(set) var faults: [CoreDataFault] = []
    private var kept: [CoreDataFault.Kind: Int] = [:]

    /// - Parameter count: how many the fault stands for.
    mutating func add(_ fault: CoreDataFault, count: Int = 1) {
        counts[fault.kind, default: 0] += count
        kept[fault.kind, default: 0] += 1
        if kept[fault.kind, default: 0] <= Self.keptOfEach { faults.append(fault) }
    }

    var count: Int { counts.values.reduce(0, +) }
}
