import StrataModel
import StrataStore

/// Undo and redo of a context's changes, in groups, across saves.
///
/// A group holds the changes between its beginning and its end, as values. Undoing it sets the values from before,
/// even if they were saved, and the result is unsaved changes like any others. Objects that were deleted come back
/// under their own ids. A group of its own is made for each event: what changed until
/// `ManagedObjectContext.processPendingChanges()`, a save, or `undo()`; `beginUndoGrouping()` makes larger ones.
///
/// ```swift
/// context.undoManager = ObjectUndoManager()
/// movie.rating = 5
/// context.undoManager?.setActionName("Rate")
/// try context.undoManager?.undo()
/// ```
///
/// Belongs to its context's isolation.
public final class ObjectUndoManager {
    struct Group {
        var changes = NetChanges()
        /// The relationships that denied the deletion of an object when it was deleted, by the object.
        var denyingLinks: [ObjectID: Set<PropertyID>] = [:]
        var actionName = ""

        var isEmpty: Bool { changes.isEmpty }

        /// Adds what happened later; the name stays.
        mutating func append(_ later: Group) {
            changes.append(later.changes)
            denyingLinks.merge(later.denyingLinks) { $1 }
        }

        /// Notes the relationships that the errors of denied deletions name.
        mutating func note(_ denials: [StrataError], in context: ManagedObjectContext) {
            for error in denials {
                guard let id = error.context.objectID, let key = error.context.key,
                    let property = context.binding.entity(id.entityID)?.property(named: key)
                else { continue }
                denyingLinks[id, default: []].insert(property.id)
            }
        }
    }

    private weak var context: ManagedObjectContext?
    private var undoGroups: [Group] = []
    private var redoGroups: [Group] = []
    /// What steps of undo and redo could not link yet.
    private var unmade = UnmadeLinks()
    /// Groups that are open, outermost first.
    private var open: [Group] = []
    /// The unsaved changes of the context when it was last looked at.
    private var seen = NetChanges()
    private var seenPairGeneration = 0
    /// The changes of the current event before the context last moved.
    private var unfinished = Group()
    private var disabledCount = 0

    /// Makes an undo manager for one context; set it as the context's `undoManager`.
    public init() {}

    /// The number of groups that are kept; the oldest are dropped first. 0 keeps all.
    public var levelsOfUndo = 0 { didSet { trim() } }
    /// Whether changes outside of open groups become groups by themselves.
    public var groupsByEvent = true

    /// Whether `undo()` is running.
    public private(set) var isUndoing = false
    /// Whether `redo()` is running.
    public private(set) var isRedoing = false
    /// The number of open groups.
    public var groupingLevel: Int { open.count }
    /// Whether changes can be undone; see `disableUndoRegistration()`.
    public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Whether there is something to undo, changes that no event has ended among it.
    public var canUndo: Bool {
        register()
        return !undoGroups.isEmpty || open.contains { !$0.isEmpty }
    }

    /// The number of groups that can be undone.
    public var undoCount: Int {
        register()
        return undoGroups.count
    }

    /// The number of groups that can be redone.
    public var redoCount: Int {
        register()
        return redoGroups.count
    }

    /// Whether there is something to redo.
    public var canRedo: Bool {
        register()
        return !redoGroups.isEmpty
    }

    // MARK: Groups

    /// Opens a group; changes until `endUndoGrouping()` are undone together. Groups may be nested.
    public func beginUndoGrouping() {
        register()
        open.append(Group())
    }

    /// Ends the innermost open group; without one it does nothing.
    public func endUndoGrouping() {
        register()
        guard let group = open.popLast() else { return }
        guard !group.isEmpty else { return }
        add(group)
    }

    /// Changes made until `enableUndoRegistration()` cannot be undone.
    public func disableUndoRegistration() {
        register()
        disabledCount += 1
    }

    /// Ends the last `disableUndoRegistration()`; calls may be nested.
    public func enableUndoRegistration() {
        register()
        disabledCount = max(0, disabledCount - 1)
    }

    /// Names the group that is open, or the one just made.
    public func setActionName(_ name: String) {
        register()
        if !open.isEmpty {
            open[open.count - 1].actionName = name
        } else if !undoGroups.isEmpty {
            undoGroups[undoGroups.count - 1].actionName = name
        }
    }

    /// The name of the group that `undo()` would undo; empty where it has none.
    public var undoActionName: String {
        register()
        return undoGroups.last?.actionName ?? ""
    }

    /// The name of the group that `redo()` would make again; empty where it has none.
    public var redoActionName: String {
        register()
        return redoGroups.last?.actionName ?? ""
    }

    /// Forgets every group.
    public func removeAllActions() {
        register()
        undoGroups = []
        redoGroups = []
        unmade = UnmadeLinks()
        for index in open.indices { open[index] = Group(actionName: open[index].actionName) }
    }

    // MARK: Undo

    /// Takes the last group back; open groups are ended first. Objects that others deleted since stay deleted.
    ///
    /// - Throws: `readOnly`, `corrupt`, when the objects cannot be changed.
    public func undo() throws {
        register()
        while !open.isEmpty { endUndoGrouping() }
        guard let group = undoGroups.popLast() else { return }
        isUndoing = true
        defer { isUndoing = false }
        try run(group.changes.inverted) { undoGroups.append(group) }
        redoGroups.append(group)
    }

    /// Makes the changes again that the last `undo()` took back.
    ///
    /// A deletion that a delete rule denied is denied again: the next save throws `validationRelationshipDeniedDelete`.
    public func redo() throws {
        register()
        guard let group = redoGroups.popLast() else { return }
        isRedoing = true
        defer { isRedoing = false }
        try run(group.changes, .init(denyingLinks: group.denyingLinks)) { redoGroups.append(group) }
        undoGroups.append(group)
    }

    private func run(
        _ changes: NetChanges, _ rules: ChangeApplication.Rules = .init(), orElse restore: () -> Void
    ) throws {
        guard let context else { return }
        do {
            let changes = try unmade.joined(to: changes, in: context)
            _ = try context.apply(changes, rules)
            rebase()
            reading { try unmade.note(changes, in: context) }
        } catch {
            restore()
            throw error
        }
        context.processPendingChanges()
        reading { try context.forgetTakenBackChanges(beside: seen) }
    }

    // MARK: Registering changes

    func attach(to context: ManagedObjectContext?) {
        self.context = context
        rebase()
    }

    /// Makes a group of the changes since the last look, or adds them to the open group.
    ///
    /// - Parameter joins: whether they join the newest group, as the changes of a save's hooks do.
    /// - Complexity: O(objects changed since the last look).
    func register(joining joins: Bool = false) {
        guard let context, !isUndoing, !isRedoing else { return }
        reading {
            var step = unfinished
            unfinished = Group()
            step.append(try self.step(in: context))
            guard disabledCount == 0, !step.isEmpty else { return }
            redoGroups = []
            if !open.isEmpty {
                open[open.count - 1].append(step)
            } else if joins, !undoGroups.isEmpty {
                undoGroups[undoGroups.count - 1].append(step)
            } else if groupsByEvent {
                add(step)
            }
        }
    }

    /// Keeps the changes since the last look apart from those of the move that the context is about to make.
    func willMove() {
        guard let context, !isUndoing, !isRedoing else { return }
        reading {
            let step = try step(in: context)
            if disabledCount == 0 { unfinished.append(step) }
        }
    }

    /// Returns the changes made since the last call.
    private func step(in context: ManagedObjectContext) throws -> Group {
        var step = Group()
        var before = NetChanges()
        var after = NetChanges()
        // An object may be listed twice.
        var looked: Set<ObjectID> = []
        let news = context.pending.news(for: .undo)
        for object in news.markedObjects() where looked.insert(object.objectID).inserted {
            let id = object.objectID
            before.objects[id] = seen.objects[id]
            let change = try context.netChange(of: object)
            after.objects[id] = object.completed(change, after: before.objects[id])
            seen.objects[id] = change
            guard object._flags.contains(.deleted) else { continue }
            step.note(try context.deniedDeletions(of: object), in: context)
        }
        let rows = news.deletedRows.filter { context.pending.deletedRows.contains($0) }
        for (id, change) in try context.netChanges(ofRows: rows) {
            before.objects[id] = seen.objects[id]
            after.objects[id] = change
            seen.objects[id] = change
        }
        if !rows.isEmpty { step.note(try context.deniedRowDeletions(), in: context) }
        if context.pendingLinks.pairGeneration != seenPairGeneration || !before.objects.isEmpty
            || !after.objects.isEmpty
        {
            seenPairGeneration = context.pendingLinks.pairGeneration
            before.pairs = seen.pairs
            after.pairs = try context.netPairChanges()
            seen.pairs = after.pairs
        }
        step.changes = after.since(before)
        return step
    }

    /// The context has dropped or saved its changes, or moved: its changes are relative to its new state from here on.
    func rebase() {
        guard let context else { return }
        context.pending.rewind(.undo)
        _ = context.pending.news(for: .undo).markedObjects()
        seenPairGeneration = context.pendingLinks.pairGeneration
        reading { seen = try context.netChanges() }
    }

    private func add(_ group: Group) {
        if open.isEmpty {
            undoGroups.append(group)
            trim()
        } else {
            open[open.count - 1].append(group)
            if open[open.count - 1].actionName.isEmpty { open[open.count - 1].actionName = group.actionName }
        }
    }

    private func trim() {
        guard levelsOfUndo > 0, undoGroups.count > levelsOfUndo else { return }
        undoGroups.removeFirst(undoGroups.count - levelsOfUndo)
    }

    private func reading(_ body: () throws -> Void) {
        do { try body() } catch { context?.report(ManagedObjectContext.typed(error)) }
    }
}

extension ManagedObject {
    /// The change, completed by properties that now equal the row that was read, but did not after `earlier`. That row
    /// may be another one since, where the object took over what others saved.
    fileprivate func completed(
        _ change: NetChanges.Object?, after earlier: NetChanges.Object?
    ) -> NetChanges.Object? {
        guard let earlier, earlier.existedBefore, earlier.existsAfter, change?.existsAfter ?? true, !isFault,
            _state & ObjectState.unlinkable == 0
        else { return change }
        var completed = change ?? NetChanges.Object(existedBefore: true, existsAfter: true)
        for (number, values) in earlier.values where completed.values[number] == nil {
            guard let property = _entity.property(number), property.isInRow else { continue }
            completed.note(number, before: values.before, after: storedValue(property))
        }
        return completed
    }
}

extension ObjectUndoManager: CustomStringConvertible {
    /// The numbers of groups that can be undone and redone.
    public var description: String { "undo manager; \(undoGroups.count) to undo, \(redoGroups.count) to redo" }
}
