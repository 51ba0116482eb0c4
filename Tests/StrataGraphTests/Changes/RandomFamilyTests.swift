import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Random work in a root context, its children, a grandchild and another root, over every kind of relationship: each
/// context is in order after every step, a save leaves it as what it saved into, and undo and redo lead back and forth.
@Suite(.verifiesStores) struct RandomFamilyTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...5)))
    func everyContextIsInOrderAfterEveryStep(_ seed: UInt64) throws {
        var run = try FamilyRun(seed: seed)
        var steps: [String] = []
        for step in 0..<60 {
            steps.append(try run.step())
            if let problem = try run.problem() {
                Issue.record("seed \(seed), step \(step): \(problem)\n\(steps.suffix(25).joined(separator: "\n"))")
                return
            }
        }
    }
}

private struct FamilyRun {
    private let container: PersistentContainer
    private let contexts: [(name: String, context: ManagedObjectContext)]
    private var random: SeededGenerator
    /// What a step found wrong.
    private var found: String?

    init(seed: UInt64) throws {
        container = try Porting.container(FamilyModel.entities())
        random = SeededGenerator(seed: seed)
        let root = container.newBackgroundContext()
        let other = container.newBackgroundContext()
        for context in [root, other] { context.mergePolicy = .mergeByPropertyObjectTrump }
        for _ in 0..<25 { _ = try FamilyModel.change(root, &random) }
        do { try root.save() } catch { root.rollback() }
        let child = try root.newChildContext()
        contexts = [
            ("root", root), ("child", child), ("grandchild", try child.newChildContext()),
            ("sibling", try root.newChildContext()), ("other", other),
        ]
    }

    func problem() throws -> String? {
        if let found { return found }
        for (name, context) in contexts {
            if let problem = try FamilyModel.problem(context) { return "\(name): \(problem)" }
        }
        return nil
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    // MARK: Steps

    mutating func step() throws -> String {
        let (name, context) = contexts[chance(contexts.count)]
        switch chance(20) {
        case 0..<9: return "\(name): \(try FamilyModel.change(context, &random))"
        case 9, 10: return "\(name): save: \(try save(context))"
        case 11:
            context.refreshAllObjects()
            if !context.hasChanges { try compare(context) }
            return "\(name): refresh"
        case 12:
            guard let folder = try context.find("Folder").randomElement(using: &random) else { return "nothing" }
            let keepsChanges = chance(2) == 0
            context.refresh(folder, mergeChanges: keepsChanges)
            return "\(name): refresh \(folder.objectID), keeping: \(keepsChanges)"
        case 13:
            context.rollback()
            return "\(name): rollback"
        case 14 where chance(3) == 0:
            context.reset()
            return "\(name): reset"
        case 15: return try batch()
        case 16..<19: return "\(name): \(try undoAndRedo(context))"
        default:
            context.processPendingChanges()
            return "\(name): event"
        }
    }

    /// A context that has saved, or moved without changes, shows what it stands on.
    private mutating func compare(_ context: ManagedObjectContext) throws {
        let mine = try FamilyModel.state(context)
        let theirs = try FamilyModel.state(context.parent ?? container.newBackgroundContext())
        if mine != theirs { found = FamilyModel.difference(mine, theirs) }
    }

    /// What breaks a rule is not saved.
    private mutating func save(_ context: ManagedObjectContext) throws -> String {
        let isToMove = try !context.changes().isEmpty
        do {
            try context.save()
            if isToMove { try compare(context) }
            return "done"
        } catch let error as StrataError where error.code != .corrupt {
            context.rollback()
            if context.hasChanges { found = "changes after a rollback" }
            return "\(error.code)"
        }
    }

    private mutating func batch() throws -> String {
        guard chance(3) == 0 else { return "nothing" }
        let context = container.newBackgroundContext()
        let predicate = try FetchPredicate(format: "rank == %@", chance(9))
        if chance(2) == 0 {
            try context.execute(
                BatchUpdateRequest<ManagedObject>(
                    entityName: "Folder", where: predicate, setting: ["rank": .constant(.integer(Int64(chance(9))))]))
            return "batch update"
        }
        let entity = ["Tag", "Page", "Song", "Key"].randomElement(using: &random) ?? "Tag"
        do {
            try context.execute(BatchDeleteRequest<ManagedObject>(entityName: entity, where: predicate))
        } catch let error as StrataError where error.code != .corrupt {
            return "batch deletion: \(error.code)"
        }
        return "batch deletion of \(entity)"
    }

    /// Some events, taken back and made again.
    private mutating func undoAndRedo(_ context: ManagedObjectContext) throws -> String {
        context.processPendingChanges()
        let undo = ObjectUndoManager()
        context.undoManager = undo
        defer { context.undoManager = nil }
        // A member that only has another hidden position is changed, and in no list of changes.
        let (hadChanges, wasChanged) = (try !context.changes().isEmpty, context.hasChanges)
        let before = try FamilyModel.state(context)
        var changes: [String] = []
        for _ in 0...chance(3) {
            for _ in 0...chance(3) { changes.append(try FamilyModel.change(context, &random)) }
            context.processPendingChanges()
        }
        let after = try FamilyModel.state(context)
        let count = undo.undoCount
        for _ in 0..<count { try undo.undo() }
        let back = try FamilyModel.state(context)
        if back != before { found = "undone: \(FamilyModel.difference(back, before))" }
        if count > 0, try context.changes().isEmpty == hadChanges || context.hasChanges && !wasChanged {
            found = "undone: changes \(try context.changes()) of \(context.updatedObjects)"
        }
        if let problem = try FamilyModel.problem(context) { found = "undone: \(problem)" }
        for _ in 0..<count { try undo.redo() }
        let again = try FamilyModel.state(context)
        if again != after { found = "redone: \(FamilyModel.difference(again, after))" }
        let isTakenBack = chance(2) == 0
        if isTakenBack { for _ in 0..<count { try undo.undo() } }
        return "\(isTakenBack ? "undone" : "redone") \(changes.joined(separator: "; "))"
    }
}
