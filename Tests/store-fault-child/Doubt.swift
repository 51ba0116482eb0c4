import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Commits whose meta page could not be written.
struct Doubt {
    let root: URL

    func run() throws {
        try with("a refused meta page", aRefusedMetaPage)
        try with("a meta page that was written all the same", aMetaPageThatWasWritten)
        try with("doubt", doubtAndAskingAgain)
        try with("doubt about nothing", doubtAboutNothing)
        try with("a group", aGroup)
        try with("other work", otherWork)
        try aContextInDoubt()
        say("a context")
        for isWritten in [false, true] { try changesAfterDoubt(isWritten) }
        say("changes after doubt")
        for course in UndoInDoubt.Course.allCases {
            for isWritten in [false, true] {
                try UndoInDoubt(root, course, isWritten: isWritten).run(course)
            }
        }
        say("undo in doubt")
    }

    private func with(_ name: String, _ body: (Library) throws -> Void) throws {
        let library = try Library(root.appending(component: "\(UUID().uuidString).strata"))
        var draft = try library.draft()
        for _ in 0..<5 { try library.insert(&draft) }
        try library.commit(draft)
        try body(library)
        try library.check(name)
        try library.reopen()
        try library.check("\(name), reopened")
        library.close()
        say(name)
    }

    private func count(_ id: UUID, _ library: Library) throws -> Int {
        try library.store.transactions(limit: .max).filter { $0.id == id }.count
    }

    /// Not there after reopening: the save is made again.
    private func aRefusedMetaPage(_ library: Library) throws {
        var draft = try library.draft()
        try library.insert(&draft)
        let before = try library.store.head()
        let (result, hits) = Fault.during(FAULT_META, error: EIO) { try library.commit(draft) }
        let receipt = try result.get()
        expect(hits == 1 && receipt.previousHead == before, "\(hits), \(receipt)")
        expect(try count(draft.changes.transactionID, library) == 1, "saved once")
    }

    /// There after reopening, and there after one more durable commit: saved, and once.
    private func aMetaPageThatWasWritten(_ library: Library) throws {
        var draft = try library.draft()
        try library.insert(&draft)
        let before = try library.store.head()
        let (result, hits) = Fault.during(FAULT_META, error: EIO, manner: FAULT_LIE) {
            try library.commit(draft)
        }
        let receipt = try result.get()
        expect(hits == 1 && receipt.previousHead == before, "\(hits), \(receipt)")
        expect(try count(draft.changes.transactionID, library) == 1, "saved once")
        let head = try library.store.head()
        expect(receipt.eventNumber == head, "\(receipt.eventNumber) is not the head \(head)")
    }

    /// Found after reopening, but no durable commit can be made: nobody knows. Asking again gives the first result.
    private func doubtAndAskingAgain(_ library: Library) throws {
        var draft = try library.draft()
        try library.insert(&draft)
        let (result, _) = Fault.during(FAULT_META, count: 1_000, error: EIO, manner: FAULT_LIE) {
            try library.commit(draft)
        }
        expectDoubt(result)
        let receipt = try library.commit(draft)
        let again = try library.commit(draft)
        expect(receipt.eventNumber == again.eventNumber && receipt.transaction == again.transaction, "one result")
        expect(try count(draft.changes.transactionID, library) == 1, "saved once")
    }

    private func doubtAboutNothing(_ library: Library) throws {
        var draft = try library.draft()
        try library.insert(&draft)
        let (result, _) = Fault.during(FAULT_META, count: 1_000, error: EIO) { try library.commit(draft) }
        expectDoubt(result)
        _ = try library.store.head()
        try library.commit(draft)
        expect(try count(draft.changes.transactionID, library) == 1, "saved once")
    }

    private func expectDoubt(_ result: Result<SaveReceipt, any Error>) {
        guard case .failure(let error) = result, (error as? StrataError)?.code == .inDoubt else {
            fail("not in doubt: \(result)")
        }
    }

    /// Four saves that share a commit: two new ones, one that clashes, one that is stale. Also where entries have to move
    /// on before it, in a commit that fails as theirs does: that one's fate is nobody's doubt.
    private func aGroup(_ library: Library) throws {
        for (isWritten, before) in [(false, 0), (true, 0), (false, 30), (true, 30)] {
            var stale = try library.draft()
            try library.rename([library.anyMovie], &stale)
            var rename = try library.draft()
            try library.rename([library.anyMovie], &rename)
            try library.commit(rename)
            var first = try library.draft()
            try library.insert(&first)
            var second = try library.draft()
            try library.insert(&second)
            var clash = try library.draft()
            try library.insert(&clash, title: library.titles[library.anyMovie] ?? "")
            let drafts = [first, clash, stale, second]
            let outcomes = group(drafts.map(\.changes), library, before: before, isWritten: isWritten)
            for index in [0, 3] {
                guard case .failure(let error)? = outcomes[index], (error as? StrataError)?.code == .inDoubt else {
                    fail("save \(index): \(String(describing: outcomes[index]))")
                }
            }
            guard case .failure(let error)? = outcomes[1], (error as? StrataError)?.code == .constraintMerge else {
                fail("the clash: \(String(describing: outcomes[1]))")
            }
            guard case .success(.stale)? = outcomes[2] else { fail("stale: \(String(describing: outcomes[2]))") }
            try library.commit(first)
            try library.commit(second)
            expect(try count(first.changes.transactionID, library) == 1, "the first was saved once")
        }
    }

    /// Submits the saves while the turn keeps them waiting, so that they are one group, whose meta page fails.
    ///
    /// - Parameter before: movies that are inserted in the turn, whose entries nobody has moved on when the group comes.
    private func group(
        _ changes: [ChangeSet], _ library: Library, before: Int, isWritten: Bool
    ) -> [Int: Result<SaveOutcome, any Error>] {
        let store = library.store
        let outcomes = Outcomes()
        let done = DispatchGroup()
        do {
            let turn = try store.takeTurn(limit: .seconds(10))
            if before > 0 {
                var draft = try library.draft()
                for _ in 0..<before { try library.insert(&draft) }
                try library.commit(draft, turn: turn)
            }
            for (index, change) in changes.enumerated() {
                Thread.detachNewThread {
                    outcomes.set(index, Result { try store.save(change) })
                    done.leave()
                }
                done.enter()
                while store.waitingSaveCount < index + 1 { usleep(500) }
            }
            let (_, hits) = Fault.during(
                FAULT_META, count: 1_000, error: EIO, manner: isWritten ? FAULT_LIE : FAULT_REFUSE
            ) {
                turn.end()
                done.wait()
            }
            expect(hits > 0, "the group met no failure")
        } catch {
            fail("no turn: \(error)")
        }
        return outcomes.all
    }

    /// Leases, models, rebuilds and sweeps may all be done twice, so that one failure is none.
    private func otherWork(_ library: Library) throws {
        let works: [(String, () throws -> Void)] = [
            ("a lease", { for _ in 0..<40 { _ = try library.store.newObjectID(in: EntityID(rawValue: 1)) } }),
            ("a rebuild", { _ = try library.store.rebuild() }),
        ]
        for (name, work) in works {
            for manner in [FAULT_REFUSE, FAULT_LIE] {
                let (result, hits) = Fault.during(FAULT_META, error: EIO, manner: manner, work)
                if case .failure(let error) = result { fail("\(name): \(error)") }
                expect(hits == 1, "\(name) met \(hits) failures")
                try library.check(name)
            }
        }
    }

    /// A context keeps its changes when their save is in doubt, and can ask again.
    private func aContextInDoubt() throws {
        let model = try Library.model(version: 1)
        let directory = root.appending(component: "context.strata")
        let container = PersistentContainer(name: "Context", model: model, at: .url(directory))
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        for isWritten in [false, true] {
            let movie = try context.insertNewObject(forEntityName: "Movie")
            try movie.setValue("in doubt \(isWritten)", forKey: "title")
            let (result, _) = Fault.during(
                FAULT_META, count: 1_000, error: EIO, manner: isWritten ? FAULT_LIE : FAULT_REFUSE
            ) { try context.save() }
            guard case .failure(let error) = result, (error as? StrataError)?.code == .inDoubt else {
                fail("the context: \(result)")
            }
            expect(context.hasChanges && movie.isInserted, "the changes are kept")
            try context.save()
            expect(!context.hasChanges, "the changes are saved")
            let other = container.newBackgroundContext()
            let count = try other.count(for: FetchRequest<ManagedObject>(entityName: "Movie"))
            expect(count == (isWritten ? 2 : 1), "\(count) movies")
            try movie.setValue("afterwards \(isWritten)", forKey: "title")
            try context.save()
        }
    }
}

extension Doubt {
    /// What is changed while a save is in doubt is saved with the next, whichever way the doubt is settled.
    private func changesAfterDoubt(_ isWritten: Bool) throws {
        let directory = root.appending(component: "after-\(isWritten).strata")
        let container = PersistentContainer(name: "Context", model: try Library.model(version: 1), at: .url(directory))
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        func movie(_ title: String) throws -> ManagedObject {
            let movie = try context.insertNewObject(forEntityName: "Movie")
            try movie.setValue(title, forKey: "title")
            return movie
        }
        let old = try (0..<4).map { try movie("old \($0)") }
        let tag = try context.insertNewObject(forEntityName: "Tag")
        try tag.setValue("tag", forKey: "label")
        try tag.setValue([old[0], old[3]], forKey: "movies")
        try context.save()
        let new = try (0..<3).map { try movie("new \($0)") }
        for (number, movie) in old.enumerated() where number < 3 {
            try movie.setValue("twice \(number)", forKey: "title")
        }
        context.delete(old[3])
        try tag.setValue([old[1], old[2], new[0], new[2]], forKey: "movies")
        let (result, _) = Fault.during(
            FAULT_META, count: 1_000, error: EIO, manner: isWritten ? FAULT_LIE : FAULT_REFUSE
        ) { try context.save() }
        guard case .failure(let error) = result, (error as? StrataError)?.code == .inDoubt else {
            fail("the context: \(result)")
        }
        try new[1].setValue("later", forKey: "title")
        context.delete(new[2])
        try old[1].setValue("thrice", forKey: "title")
        context.delete(old[2])
        let latest = try movie("latest")
        // One link goes that is in doubt, one comes back that its save took away, two stay, and two are new.
        try tag.setValue([old[0], new[0], new[1], latest], forKey: "movies")
        let expected = ["later", "latest", "new 0", "thrice", "twice 0"]
        let linked = ["later", "latest", "new 0", "twice 0"]
        let before = try titles(context)
        expect(before == expected, "before: \(before)")
        try context.save()
        expect(!context.hasChanges, "everything is saved")
        let after = try titles(context)
        expect(after == expected, "in the context: \(after)")
        let fresh = container.newBackgroundContext()
        expect(try titles(fresh) == expected, "in the store")
        for tag in [tag, try fresh.existingObject(with: tag.objectID)] {
            let movies = try tag.value(forKey: "movies") as? [ManagedObject] ?? []
            let found = try movies.map { try $0.value(forKey: "title") as? String ?? "" }.sorted()
            expect(found == linked, "linked: \(found)")
            let back = try movies.map { try $0.value(forKey: "tags") as? [ManagedObject] ?? [] }
            expect(back.allSatisfy { $0 == [tag] }, "linked back: \(back)")
        }
        try new[0].setValue("again", forKey: "title")
        try context.save()
        expect(try container.verify().isSound, "the store is sound")
        container.close()
    }

    private func titles(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Movie"))
            .map { try $0.value(forKey: "title") as? String ?? "" }.sorted()
    }
}

private final class Outcomes: @unchecked Sendable {
    private let lock = NSLock()
    private var results: [Int: Result<SaveOutcome, any Error>] = [:]

    var all: [Int: Result<SaveOutcome, any Error>] { lock.withLock { results } }

    func set(_ index: Int, _ result: Result<SaveOutcome, any Error>) { lock.withLock { results[index] = result } }
}
