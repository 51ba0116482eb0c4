import StrataGraph
import StrataModel
import StrataStore

/// A change that a page asks for.
struct StudioChange: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        /// Gives `object` the `values`.
        case set
        /// Adds the `members` to the `relationship` of `object`.
        case link
        /// Takes the `members` from the `relationship` of `object`.
        case unlink
        /// Deletes `object`.
        case delete
        /// Reverts `transaction`; `conflicts` says what becomes of properties that have changed again since.
        case revert
        /// Brings `object` back to its state at the moment `at`.
        case restore
    }

    let kind: Kind
    var object: String?
    /// The text of each property; nil means no value.
    var values: [String: String?]?
    var relationship: String?
    var members: [String]?
    var transaction: UInt64?
    var conflicts: RevertPolicy?
    var at: String?
    /// The transaction after which the person saw the object; nil if that is not known.
    var seen: UInt64?

    /// The reason of a save that gives none.
    var usualReason: String? {
        switch kind {
        case .revert: transaction.map { "revert of transaction \($0)" }
        case .restore: "restored to \(at ?? "an earlier state")"
        default: nil
        }
    }

    /// Makes the change in a context, which is not saved.
    func apply(_ store: Store, _ context: ManagedObjectContext) throws {
        switch kind {
        case .set: try set(store, context)
        case .link, .unlink: try link(store, context)
        case .delete: context.delete(try target(store, context))
        case .revert:
            let number = TransactionNumber(rawValue: try required(transaction, "transaction"))
            do {
                try context.revert(number, policy: (conflicts ?? .error).policy)
            } catch let error as StrataError where error.code == .futureEvent {
                throw UsageError("The log has no transaction \(number).")
            }
        case .restore:
            let id = try ObjectReference.parse(try required(object, "object"), in: store)
            let moment = try StudioReading.moment(try required(at, "at"), "at", in: store)
            try context.restore(id, at: moment.eventNumber)
        }
    }

    private func set(_ store: Store, _ context: ManagedObjectContext) throws {
        let object = try target(store, context)
        let values = try required(self.values, "values")
        let texts = values.compactMap { name, text in text.map { (path: name, text: $0) } }
        let nils = values.filter { $0.value == nil }.map(\.key)
        // Files of this machine are for its command line only.
        let assignments = Assignments(texts.sorted { $0.path < $1.path }, nils: nils.sorted(), readsFiles: false)
        try assignments.apply(to: object, ObjectFinder(store, context))
    }

    private func link(_ store: Store, _ context: ManagedObjectContext) throws {
        let name = try required(relationship, "relationship")
        let link = try RelationshipTarget(try required(object, "object"), name, store, context)
        let members = try required(self.members, "members").map { try TargetArguments().object($0, store, context) }
        if kind == .unlink {
            for member in members where try !link.unlink(member) {
                throw UsageError("\(name) does not contain that object any more.")
            }
        } else if link.isToMany {
            for member in members { try link.object.insertMember(member, forKey: name) }
        } else {
            guard members.count == 1 else { throw UsageError("\(name) leads to one object only.") }
            try link.object.setValue(members[0], forKey: name)
        }
    }

    private func target(_ store: Store, _ context: ManagedObjectContext) throws -> ManagedObject {
        try TargetArguments().object(try required(object, "object"), store, context)
    }

    private func required<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw UsageError("The change has no \(name).") }
        return value
    }
}

extension RevertPolicy: Decodable {}
