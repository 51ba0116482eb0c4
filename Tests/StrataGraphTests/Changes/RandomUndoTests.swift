import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Random events over every kind of relationship, with saves between them: undo leads back through every state, also
/// through those that were saved, and redo leads forth again.
@Suite(.verifiesStores) struct RandomUndoTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...20)))
    func undoAndRedoLeadThroughEveryState(_ seed: UInt64) throws {
        var run = try UndoRun(seed: seed)
        for round in 0..<4 {
            if let problem = try run.round() {
                let last = run.steps.joined(separator: "\n")
                Issue.record("seed \(seed), round \(round): \(problem)\n\(last)")
                return
            }
        }
    }
}

private struct UndoRun {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private var random: SeededGenerator
    /// The states before each event that can be undone, and the last one.
    private var states: [[String]] = []
    private(set) var steps: [String] = []

    init(seed: UInt64) throws {
        container = try Porting.container(FamilyModel.entities())
        random = SeededGenerator(seed: seed)
        context = container.newBackgroundContext()
        for _ in 0..<25 { _ = try FamilyModel.change(context, &random) }
        do { try context.save() } catch { context.rollback() }
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Some events and saves, undone, made again, and undone in part.
    ///
    /// - Returns: what went wrong.
    mutating func round() throws -> String? {
        steps = []
        context.rollback()
        let undo = ObjectUndoManager()
        context.undoManager = undo
        states = [try FamilyModel.state(context)]
        for _ in 0...chance(6) { try event(undo) }
        if let problem = try walk(undo, states.indices.dropLast().reversed(), "undone", undo.undo) { return problem }
        if chance(2) == 0, try !isSaved() { return nil }
        if let problem = try walk(undo, states.indices.dropFirst().map { $0 }, "redone", undo.redo) { return problem }
        if let problem = try FamilyModel.problem(context) { return "redone: \(problem)" }
        for _ in 0..<chance(states.count) { try undo.undo() }
        guard try isSaved() else { return nil }
        let (shown, stored) = (try FamilyModel.state(context), try FamilyModel.state(container.newBackgroundContext()))
        return shown == stored ? nil : "saved: \(FamilyModel.difference(shown, stored))"
    }

    /// An event, perhaps with a save. What a rule refuses to save stays unsaved.
    private mutating func event(_ undo: ObjectUndoManager) throws {
        var text: [String] = []
        for _ in 0...chance(3) { text.append(try FamilyModel.change(context, &random)) }
        context.processPendingChanges()
        if chance(2) == 0 { text.append(try isSaved() ? "save" : "refused") }
        steps.append(text.joined(separator: "; "))
        // What changed nothing makes no group.
        if states.count == undo.undoCount { states.append(try FamilyModel.state(context)) }
    }

    private func isSaved() throws -> Bool {
        do {
            try context.save()
            return true
        } catch let error as StrataError where error.code != .corrupt {
            return false
        }
    }

    private mutating func walk(
        _ undo: ObjectUndoManager, _ wanted: [Int], _ what: String, _ move: () throws -> Void
    ) throws -> String? {
        for index in wanted {
            try move()
            let state = try FamilyModel.state(context)
            if state != states[index] {
                return "\(what) to \(index): \(FamilyModel.difference(state, states[index]))"
            }
            if let problem = try FamilyModel.problem(context) { return "\(what) to \(index): \(problem)" }
        }
        return nil
    }
}
