import StrataGraph
import StrataModel
import StrataStore

/// A value, or the whole object, that others have changed since a person saw it.
struct StudioConflict: Encodable, Equatable {
    /// nil if the object was deleted.
    let property: String?
    /// The value that the person saw; nil for an object.
    let base: StudioCell?
    /// The value now; nil for an object.
    let theirs: StudioCell?
    /// The value that the change gives; nil if the change deletes the object.
    let mine: StudioCell?
    /// The transaction that made `theirs`; nil if the history no longer has it.
    let transaction: StudioTransaction?

    /// The values that a change is about and that are no longer what they were.
    ///
    /// Members of to-manys are not among them: two people may add members without harm, and a member that has gone is an
    /// error of its own.
    ///
    /// - Parameters:
    ///   - seen: the transaction after which the person saw the object.
    ///   - mine: the consequences of the change.
    static func list(
        _ change: StudioChange, since seen: UInt64, _ mine: [ObjectChange], in store: Store
    ) throws -> [StudioConflict] {
        guard let reference = change.object, change.kind != .restore, change.kind != .revert else { return [] }
        let id = try ObjectReference.parse(reference, in: store, past: true)
        let kept = try store.baseline()?.transaction.rawValue ?? 0
        let before = try StudioReading.moment("\(max(seen, kept, 1))", "seen", in: store)
        let now = try StoreMoment(nil, in: store)
        guard before.eventNumber < now.eventNumber, let base = try ShownObject.read(id, at: before, in: store) else {
            return []
        }
        let names = try store.recordedNames()
        let history = try store.history(of: id)
        guard let theirs = try ShownObject.read(id, at: now, in: store) else {
            let deletion = try history.first { $0.kind == .deleted }.flatMap { try store.transaction($0.transaction) }
            return [
                StudioConflict(
                    property: nil, base: nil, theirs: nil, mine: nil,
                    transaction: deletion.map { StudioTransaction($0, names) })
            ]
        }
        let origins = try ValueOrigins(of: id, history, through: now.eventNumber, store)
        let links = now.linkNames(names, in: store, usesTitles: true)
        let own = mine.first { $0.objectID == id }
        let former = Dictionary(
            base.values.map { (origins.newest($0.property), $0.value) }, uniquingKeysWith: { first, _ in first })
        return theirs.values.compactMap { value in
            let was = former[origins.newest(value.property)] ?? .null
            guard change.concerns(value.name), !was.isIdentical(to: value.value) else { return nil }
            let wish = own?.properties.first { $0.key == value.name }
            // Without a change of it, the wish is what it is now.
            guard change.kind == .delete || wish != nil else { return nil }
            return StudioConflict(
                property: value.name, base: StudioCell(was, links), theirs: StudioCell(value.value, links),
                mine: change.kind == .delete ? nil : wish.map { StudioCell($0.after, links) },
                transaction: origins[value.property].map { StudioTransaction($0.transaction, names) })
        }
    }
}

extension StudioChange {
    /// Whether the change is about a value of its object.
    fileprivate func concerns(_ property: String) -> Bool {
        switch kind {
        case .set: values?.keys.contains { $0 == property || $0.hasPrefix(property + ".") } ?? false
        case .link, .unlink: relationship == property
        case .delete: true
        case .revert, .restore: false
        }
    }
}
