public import StrataModel

/// The side that wins when a save finds that others saved first and changed the same property.
///
/// Different properties of one object, and different members of one relationship, never conflict whatever the policy:
/// they are merged. An attribute that both changed is a conflict even where both wrote the same: two sides that each
/// add one to a counter would else add one together. A link that both made is one link, and a move never conflicts. The
/// policy decides what remains, and what it overrules is kept with the transaction (`HistoryTransaction.conflicts`).
/// Core Data's five policies have its names and numbers.
///
/// | conflict | error | store trump | object trump | overwrite | rollback |
/// |---|---|---|---|---|---|
/// | both changed a property | 133020 | theirs | mine | all of my object | all of theirs |
/// | they deleted, I changed | 133020 | stays deleted | made again, as mine | made again, as mine | stays deleted |
/// | I delete, they changed | 133020 | not deleted | deleted | deleted | not deleted |
/// | I link to what they deleted | 133020 | not linked | not linked | not linked | not linked |
/// | my new object has their unique value | 133021 | theirs stands for mine | theirs takes my values | theirs takes my values | theirs stands for mine |
/// | my new objects share a unique value | 133021 | the first stands | the first takes their values | the first takes their values | the first stands |
/// | my saved object takes their unique value | 133021 | my value goes back | 133021 | 133021 | my value goes back |
/// | moves in an ordered relationship | mine | mine | mine | mine | mine |
///
/// Where I delete an object whose members go with it (`cascade`), a member that others changed goes too, whatever the
/// policy but `error`: the deletion of its owner stands, and the delete rule of the model with it. What they changed in
/// it is among the conflicts of the transaction, with mine as the winner. A member that they moved to another owner
/// belongs there, and the policy decides about it as about any object.
///
/// A deletion that the policy takes back also takes back its effects on other objects: those that its cascades deleted
/// exist again, with their own changes, and the links that it cut are made again. What the app deleted for itself stays
/// deleted, and a to-one that it has set since leads where it was set to.
///
/// A one-to-one is one link, whose ends agree after every merge. Where both sides gave an object another partner, the
/// policy decides about that object. A link that loses is withdrawn at both its ends, and the object at its other end
/// has the partner again that the store gives it, or none.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// ```
public struct MergePolicy: Sendable {
    enum Kind: Int, Sendable {
        case error = 0
        case storeTrump = 1
        case objectTrump = 2
        case overwrite = 3
        case rollback = 4
        case custom = -1
    }

    let kind: Kind
    let resolve: (@Sendable (MergeConflict, [HistoryEvent]) throws -> MergeResolution)?
    /// The name that is recorded beside the conflicts that the policy decided.
    public let name: String

    private init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
        resolve = nil
    }

    private init(name: String, _ resolve: @escaping @Sendable (MergeConflict, [HistoryEvent]) throws -> MergeResolution)
    {
        kind = .custom
        self.name = name
        self.resolve = resolve
    }

    /// A save with a conflict fails and changes nothing: the default.
    public static let error = MergePolicy(.error, "error")
    /// The store wins, property by property.
    public static let mergeByPropertyStoreTrump = MergePolicy(.storeTrump, "mergeByPropertyStoreTrump")
    /// The context wins, property by property.
    public static let mergeByPropertyObjectTrump = MergePolicy(.objectTrump, "mergeByPropertyObjectTrump")
    /// An object in conflict is saved as it is in the context, properties that only others changed included.
    public static let overwrite = MergePolicy(.overwrite, "overwrite")
    /// An object in conflict is left as it is in the store.
    public static let rollback = MergePolicy(.rollback, "rollback")

    /// Asks the app for each object in conflict.
    ///
    /// - Parameters:
    ///   - name: recorded beside what was overruled.
    ///   - resolve: gets base, theirs and mine of each property, and the events that made theirs, oldest first; it runs
    ///     in the context's isolation, outside the store's transaction. What it throws, the save throws.
    public static func custom(
        _ name: String = "custom",
        _ resolve: @escaping @Sendable (MergeConflict, [HistoryEvent]) throws -> MergeResolution
    ) -> MergePolicy {
        MergePolicy(name: name, resolve)
    }

    /// Core Data's number of the policy; -1 for a custom one.
    public var rawValue: Int { kind.rawValue }
}

extension MergePolicy: CustomStringConvertible {
    /// The name of the policy.
    public var description: String { name }
}

/// The policy's decision about one object in conflict.
public enum MergeResolution: Sendable, Hashable {
    /// The save fails with the conflict.
    case fail
    /// The store's values for the properties in conflict; a deletion by others stands, one of mine is taken back.
    case theirs
    /// The context's values for the properties in conflict; an object that others deleted is made again.
    case mine
    /// The whole object as the context has it.
    case allMine
    /// The whole object as the store has it.
    case allTheirs
    /// These values, and the store's for the other properties in conflict.
    case values([String: AttributeValue])
}

extension MergePolicy {
    func resolution(of conflict: MergeConflict, _ events: () throws -> [HistoryEvent]) throws -> MergeResolution {
        switch kind {
        case .error: .fail
        case .storeTrump: .theirs
        case .objectTrump: .mine
        case .overwrite: .allMine
        case .rollback: .allTheirs
        case .custom: try resolve?(conflict, try events()) ?? .fail
        }
    }

    /// Whether a link to an object that is gone, or a unique value of another object, is settled without an error.
    var settlesSilently: Bool { kind != .error }
    /// Whether my values are kept where only one side's can be.
    var prefersMine: Bool { kind == .objectTrump || kind == .overwrite }
}
