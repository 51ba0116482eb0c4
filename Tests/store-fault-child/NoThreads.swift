import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// A system that has no thread to give: what needs one says so, and what does not goes on.
struct NoThreads {
    let root: URL

    func run() async throws {
        let library = try Library(root.appending(component: "library.strata"))
        for _ in 0..<5 {
            var draft = try library.draft()
            try library.insert(&draft)
            try library.commit(draft)
        }
        let (opening, refused) = Fault.during(FAULT_THREAD, count: 1_000, error: EAGAIN) { try library.reopen() }
        expectNoThread(opening, .persistentStoreOpen)
        expect(refused > 0, "opening asked for no thread")
        say("opening")
        try library.reopen()
        let (observation, _) = Fault.during(FAULT_THREAD, count: 1_000, error: EAGAIN) {
            try library.store.observeHead { _ in }
        }
        expectNoThread(observation, .persistentStoreOperation)
        let kept = try library.store.observeHead { _ in }
        kept.cancel()
        say("observing")
        let (report, asked) = Fault.during(FAULT_THREAD, count: 1_000, error: EAGAIN) { try library.store.rebuild() }
        expect(try report.get().isUnchanged && asked > 0, "a rebuild")
        try library.check("after a rebuild")
        say("rebuilding")
        try saveMany(library)
        try await fetch(PersistentContainer(over: library.store))
        say("fetching")
    }

    /// What else would take two threads: a large save, and verifying.
    private func saveMany(_ library: Library) throws {
        var draft = try library.draft()
        for _ in 0..<Library.many { try library.insert(&draft) }
        let (saving, asked) = Fault.during(FAULT_THREAD, count: 1_000, error: EAGAIN) {
            try library.commit(draft)
            try library.renameAll()
        }
        try saving.get()
        expect(asked > 1, "large saves asked for no thread")
        try library.check("after large saves")
        say("saving")
        let (report, wanted) = Fault.during(FAULT_THREAD, count: 1_000, error: EAGAIN) { try library.store.verify() }
        expect(try report.get().isSound && wanted > 0, "verifying")
        say("verifying")
    }

    private func expectNoThread(_ result: Result<some Any, any Error>, _ code: StrataError.Code) {
        guard case .failure(let error as StrataError) = result else { fail("no error: \(result)") }
        expect(error.code == code && error.description.contains("no thread can be started"), "\(error)")
    }

    /// Work that may block finds a thread of Dispatch's.
    private func fetch(_ container: PersistentContainer) async throws {
        // Dispatch has its own by now.
        await withCheckedContinuation { done in DispatchQueue.global().async { done.resume() } }
        fault_arm(Int32(FAULT_THREAD), 1, 1, EAGAIN, Int32(FAULT_REFUSE))
        let count = try await container.performBackgroundTask { context in
            try context.count(for: FetchRequest<ManagedObject>(entityName: "Movie"))
        }
        expect(fault_disarm() == 1 && count == 5 + Library.many, "\(count) movies")
    }
}
