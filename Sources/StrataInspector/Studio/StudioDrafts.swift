// Changes from Studio: each is shown as a draft before it is saved.

import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore

/// The effects of a change, for a person to confirm.
struct DraftPage: Encodable, Equatable {
    struct Links: Encodable, Equatable {
        let relationship: String
        let added: [String]
        let removed: [String]
        let moved: [String]
    }

    struct Item: Encodable, Equatable {
        let object: String
        let label: String
        let entity: String
        /// `inserted`, `updated` or `deleted`.
        let kind: String
        let changes: [StudioEvent.Change]
        let links: [Links]
    }

    /// The draft that a save names.
    let draft: String
    /// At most a few hundred: the object that the change is about, then what is deleted, what is new, and the rest.
    let objects: [Item]
    /// All objects that would change.
    let count: Int
    /// In words: `1 Studio deleted, 12 Films deleted`.
    let summary: String
    /// The reasons why it cannot be saved; empty if it can.
    let problems: [String]
    /// What others have changed since the person saw it, and this would overwrite.
    let conflicts: [StudioConflict]
    let reason: String?

    private static let most = 300

    init(
        _ draft: String, _ change: StudioChange, _ changes: [ObjectChange], about target: ObjectID?,
        _ problems: [String], _ conflicts: [StudioConflict], _ links: LinkNames
    ) {
        self.draft = draft
        self.problems = problems
        self.conflicts = conflicts
        reason = change.usualReason
        count = changes.count
        summary = Self.summary(changes)
        objects = Self.ordered(changes, target).prefix(Self.most).map { change in
            func label(_ ids: [ObjectID]) -> [String] { ids.map { links.label(of: $0) } }
            return Item(
                object: links.names.name(of: change.objectID), label: links.label(of: change.objectID),
                entity: change.entityName, kind: change.kind.rawValue,
                changes: change.properties.map { .init($0, of: change.kind, links) },
                links: change.links.map {
                    Links(
                        relationship: $0.key, added: label($0.added), removed: label($0.removed), moved: label($0.moved)
                    )
                })
        }
    }

    /// What is lost comes before what only changes: of a thousand objects a person reads the first.
    private static let kinds: [ObjectChange.Kind] = [.deleted, .inserted, .updated]

    private static func ordered(_ changes: [ObjectChange], _ target: ObjectID?) -> [ObjectChange] {
        changes.filter { $0.objectID == target }
            + kinds.flatMap { kind in changes.filter { $0.kind == kind && $0.objectID != target } }
    }

    private static func summary(_ changes: [ObjectChange]) -> String {
        kinds.flatMap { kind in
            let counts = Dictionary(grouping: changes.filter { $0.kind == kind }, by: \.entityName).mapValues(\.count)
            return counts.sorted { $0.key < $1.key }.map { "\(ValueText.count($0.value)) \($0.key) \(kind.rawValue)" }
        }.joined(separator: ", ")
    }
}

extension StudioEvent.Change {
    fileprivate init(_ change: HistoryEvent.Change, of kind: ObjectChange.Kind, _ links: LinkNames) {
        self.init(
            property: change.key, before: kind == .inserted ? nil : StudioCell(change.before, links),
            after: kind == .deleted ? nil : StudioCell(change.after, links))
    }
}

/// Changes that were shown and may be saved.
///
/// A save does again what was shown, on the newest state. If that does anything else by now, nothing is saved, and the
/// new consequences are shown. A draft is saved once; saving it again is an error that names the transaction.
final class StudioDrafts: Sendable {
    private struct Draft: Sendable {
        let id: String
        let store: String
        let change: StudioChange
        let changes: [ObjectChange]
        /// The last transaction when it was shown.
        let transaction: UInt64
        var state = DraftState.shown
    }

    private enum DraftState: Sendable {
        case shown, saving
        /// With its transaction, if there was anything to save.
        case saved(UInt64?)
    }

    private struct Wish: Decodable {
        let draft: String
        let author: String?
        let reason: String?
    }

    private struct Saved: Encodable {
        /// nil if there was nothing to save.
        let transaction: UInt64?
    }

    /// The newest last.
    private let drafts = Locked<[Draft]>([])
    private static let most = 50

    /// Answers `draft`, which shows what a change would do, and `save`, which does what was shown.
    func answer(_ page: String, _ source: StudioStore, _ body: Data) throws -> StudioAnswer {
        switch page {
        case "draft":
            return try StudioAnswer(json: try draft(try Self.decoded(StudioChange.self, body), source))
        case "save": return try save(try Self.decoded(Wish.self, body), source)
        default: throw StudioProblem(404, "There is no such page.")
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw StudioProblem(400, "The request is not a change.")
        }
    }

    private func draft(_ change: StudioChange, _ source: StudioStore) throws -> DraftPage {
        let context = try Self.context(source, with: change, since: change.seen)
        let (changes, problems) = try Self.consequences(of: context)
        try Self.checkKey(for: changes, source.store)
        let conflicts = try change.seen.map { try StudioConflict.list(change, since: $0, changes, in: source.store) }
        let draft = Draft(
            id: UUID().uuidString, store: source.name, change: change, changes: changes,
            transaction: try source.store.lastTransaction(upTo: context.eventNumber).rawValue)
        drafts.withLock { drafts in
            drafts.append(draft)
            if drafts.count > Self.most { drafts.removeFirst() }
        }
        let names = try source.store.recordedNames()
        let links = try StoreMoment(nil, in: source.store).linkNames(names, in: source.store, usesTitles: true)
        let target = try change.object.map { try ObjectReference.parse($0, in: source.store) }
        return DraftPage(draft.id, change, changes, about: target, problems, conflicts ?? [], links)
    }

    /// Returns the changes that a save would make, with derived values, and the reasons why it would refuse to.
    ///
    /// Changes that are not valid have no derived values.
    private static func consequences(
        of context: ManagedObjectContext
    ) throws -> (changes: [ObjectChange], problems: [String]) {
        do {
            try context.validateChanges()
            return (try context.foreseenChanges(), [])
        } catch let error as StrataError {
            return (try context.changes(), error.commandLineTexts)
        }
    }

    /// Whether two lists say the same, value for value: a NaN is what it was.
    private static func isSame(_ left: [ObjectChange], _ right: [ObjectChange]) -> Bool {
        func isSame(_ left: HistoryEvent.Change, _ right: HistoryEvent.Change) -> Bool {
            left.key == right.key && left.before.isIdentical(to: right.before)
                && left.after.isIdentical(to: right.after)
        }
        return left.elementsEqual(right) { left, right in
            left.objectID == right.objectID && left.kind == right.kind && left.links == right.links
                && left.properties.elementsEqual(right.properties, by: isSame)
        }
    }

    /// A context on the newest state that has made the change and not saved it.
    ///
    /// - Parameter seen: the transaction after which a person saw what the change is about.
    private static func context(
        _ source: StudioStore, with change: StudioChange, since seen: UInt64?
    ) throws -> ManagedObjectContext {
        let context = try PersistentContainer(over: source.store).newBackgroundContext()
        context.name = "strata-studio"
        context.mergePolicy = .error
        do {
            try change.apply(source.store, context)
        } catch let error as StrataError {
            var problem = try conflict(error, source)
            if let seen, problem.status == 409 {
                problem.conflicts = try StudioConflict.list(change, since: seen, [], in: source.store)
            }
            throw problem
        }
        context.processPendingChanges()
        return context
    }

    /// Refuses values that would be encrypted under a former key, which others may not have any more.
    private static func checkKey(for changes: [ObjectChange], _ store: Store) throws {
        let encrypts = changes.contains { change in
            let entity = store.schema.entity(change.objectID.entityID)
            return change.properties.contains { property in
                !property.after.isNull && entity?.property(named: property.key)?.attribute?.isEncrypted ?? false
            }
        }
        if encrypts { try store.checkKeyIsCurrent() }
    }

    /// A refusal by the store in words, with the names of objects.
    private static func conflict(_ error: StrataError, _ source: StudioStore) throws -> StudioProblem {
        if error.code == .encryptionKeyMissing { return StudioProblem(error) }
        let lines = NamedConflicts(error: error, names: try source.store.recordedNames()).lines
        return StudioProblem(409, lines.joined(separator: "\n"))
    }

    private func save(_ wish: Wish, _ source: StudioStore) throws -> StudioAnswer {
        let shown = try begin(wish.draft, source)
        do {
            let transaction = try save(shown, wish, source)
            set(.saved(transaction), of: shown)
            return try StudioAnswer(json: Saved(transaction: transaction))
        } catch {
            set(.shown, of: shown)
            throw error
        }
    }

    /// The draft that a save names, which no other request saves meanwhile.
    ///
    /// - Throws: a problem if there is none, if another request saves it now, and if it is saved.
    private func begin(_ id: String, _ source: StudioStore) throws -> Draft {
        try drafts.withLock { drafts in
            guard let index = drafts.firstIndex(where: { $0.id == id && $0.store == source.name }) else {
                throw StudioProblem(409, "This change was not shown. Look at it again.")
            }
            switch drafts[index].state {
            case .shown: drafts[index].state = .saving
            case .saving: throw StudioProblem(409, "This change is being saved.")
            case .saved(let transaction):
                let name = transaction.map { ", as transaction \($0)" } ?? ""
                var problem = StudioProblem(409, "This change is saved already\(name).")
                problem.transaction = transaction
                throw problem
            }
            return drafts[index]
        }
    }

    private func set(_ state: DraftState, of draft: Draft) {
        drafts.withLock { drafts in
            if let index = drafts.firstIndex(where: { $0.id == draft.id }) { drafts[index].state = state }
        }
    }

    private func save(_ shown: Draft, _ wish: Wish, _ source: StudioStore) throws -> UInt64? {
        let context = try Self.context(source, with: shown.change, since: shown.transaction)
        let before = context.eventNumber
        guard Self.isSame(try Self.consequences(of: context).changes, shown.changes) else {
            throw try Self.overtaken(
                StudioProblem(409, "The store has changed, and this would do something else now. Look at it again."),
                shown, source)
        }
        try Self.checkKey(for: shown.changes, source.store)
        context.transactionAuthor = try AuthorName.of(Self.text(wish.author))
        context.transactionReason = Self.text(wish.reason) ?? shown.change.usualReason
        do {
            try context.save()
        } catch let error as StrataError {
            throw try Self.overtaken(try Self.conflict(error, source), shown, source)
        }
        let last = context.eventNumber
        return try last > before ? source.store.transaction(containing: last)?.number.rawValue : nil
    }

    /// The refusal of a save, with what others have changed since it was shown.
    private static func overtaken(
        _ problem: StudioProblem, _ shown: Draft, _ source: StudioStore
    ) throws -> StudioProblem {
        var problem = problem
        problem.conflicts = try StudioConflict.list(
            shown.change, since: shown.transaction, shown.changes, in: source.store)
        return problem
    }

    private static func text(_ text: String?) -> String? {
        guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
        return text
    }
}
