import FaultShim
import Foundation
import StrataGraph
import StrataModel

/// Undo and redo around a save of which nobody knows whether it was made.
struct UndoInDoubt {
    /// What the context does between the save in doubt and the next.
    enum Course: CaseIterable {
        case undoesAtOnce
        case asksFirst
        case changesMore
    }

    private struct State: Equatable {
        let titles: [String]
        let linked: [String]

        static let before = State(titles: ["A", "B"], linked: ["A", "B"])
        static let after = State(titles: ["A2", "C"], linked: ["A2", "C"])
        static let later = State(titles: ["A3", "C"], linked: ["A3"])
    }

    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let undo = ObjectUndoManager()
    private let a: ManagedObject
    private let b: ManagedObject
    private let tag: ManagedObject
    private let name: String

    init(_ root: URL, _ course: Course, isWritten: Bool) throws {
        name = "\(course), \(isWritten ? "written" : "not written")"
        container = PersistentContainer(
            name: "Undo", model: try Library.model(version: 1),
            at: .url(root.appending(component: "undo-\(UUID().uuidString).strata")))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
        context.undoManager = undo
        (a, b) = (
            try context.insertNewObject(forEntityName: "Movie"), try context.insertNewObject(forEntityName: "Movie")
        )
        tag = try context.insertNewObject(forEntityName: "Tag")
        try a.setValue("A", forKey: "title")
        try b.setValue("B", forKey: "title")
        try tag.setValue("tag", forKey: "label")
        try tag.setValue([a, b], forKey: "movies")
        try context.save()
        undo.removeAllActions()
        try saveInDoubt(isWritten)
    }

    /// One group: a movie is renamed, one deleted, one made and linked.
    private func saveInDoubt(_ isWritten: Bool) throws {
        try a.setValue("A2", forKey: "title")
        context.delete(b)
        let c = try context.insertNewObject(forEntityName: "Movie")
        try c.setValue("C", forKey: "title")
        try tag.setValue([a, c], forKey: "movies")
        let (result, _) = Fault.during(
            FAULT_META, count: 1_000, error: EIO, manner: isWritten ? FAULT_LIE : FAULT_REFUSE
        ) { try context.save() }
        guard case .failure(let error) = result, (error as? StrataError)?.code == .inDoubt else {
            fail("\(name): not in doubt: \(result)")
        }
        expect(undo.undoCount == 1, "\(name): \(undo.undoCount) groups")
    }

    func run(_ course: Course) throws {
        switch course {
        case .undoesAtOnce:
            try undo.undo()
            try check(.before, "undone in doubt", isSaved: false)
            try save(.before, "undone in doubt")
            let title = try b.value(forKey: "title") as? String
            expect(
                title == "B" && b.managedObjectContext === context, "\(name): the object that came back is the one held"
            )
        case .asksFirst:
            try save(.after, "asked again")
            try undo.undo()
            try save(.before, "undone")
        case .changesMore:
            try a.setValue("A3", forKey: "title")
            try tag.setValue([a], forKey: "movies")
            try save(.later, "changed in doubt")
            expect(undo.undoCount == 2, "\(name): \(undo.undoCount) groups after more changes")
            try undo.undo()
            try save(.after, "the last group undone")
            try undo.undo()
            try save(.before, "both undone")
        }
        try undo.redo()
        try save(.after, "redone")
        if course == .changesMore {
            try undo.redo()
            try save(.later, "both redone")
            try undo.undo()
            try save(.after, "undone again")
        }
        try undo.undo()
        try save(.before, "undone at last")
        let count = try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Movie"))
        expect(count == 2 && !undo.canUndo, "\(name): nothing else is left")
        expect(try container.verify().isSound, "\(name): the store is sound")
        container.close()
    }

    private func save(_ state: State, _ step: String) throws {
        expect(context.hasChanges, "\(name), \(step): there is something to save")
        try context.save()
        expect(!context.hasChanges, "\(name), \(step): everything is saved")
        try check(state, step, isSaved: true)
    }

    private func check(_ state: State, _ step: String, isSaved: Bool) throws {
        let here = try self.state(context)
        expect(here == state, "\(name), \(step): the context shows \(here)")
        guard isSaved else { return }
        let there = try self.state(container.newBackgroundContext())
        expect(there == state, "\(name), \(step): the store holds \(there)")
    }

    private func state(_ context: ManagedObjectContext) throws -> State {
        func titles(_ movies: [ManagedObject]) throws -> [String] {
            try movies.map { try $0.value(forKey: "title") as? String ?? "" }.sorted()
        }
        let movies = try context.fetch(FetchRequest<ManagedObject>(entityName: "Movie"))
        let tag = try context.existingObject(with: tag.objectID)
        let linked = try tag.value(forKey: "movies") as? [ManagedObject] ?? []
        let back = try linked.map { try $0.value(forKey: "tags") as? [ManagedObject] ?? [] }
        expect(back.allSatisfy { $0 == [tag] }, "\(name): linked back \(back)")
        return State(titles: try titles(movies), linked: try titles(linked))
    }
}
