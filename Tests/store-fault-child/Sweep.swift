import FaultShim
import Foundation
import StrataModel
import StrataStore

/// Does each kind of work again and again, with the first, second, third… call of the operating system failing, until
/// one run meets no failure. After each failure: a typed error, nothing lost, a sound store, and a second try succeeds.
struct Sweep {
    let root: URL
    let error: Int32
    let manner: Int
    private let classes = FAULT_WRITE | FAULT_SYNC | FAULT_NAME

    func run() throws {
        let library = try Library(root.appending(component: "library.strata"))
        try seed(library)
        try sweep("insert", library) { _ in try self.insert(library) }
        try sweep("change", library) { _ in try self.change(library) }
        try sweep("backup", library) { try self.backUp(library, $0) }
        try sweep("large values", library) { try self.insertCover(library, $0) }
        try sweep("rebuild", library) { _ in _ = try library.store.rebuild() }
        try sweep("rebuild in steps", library) { _ in
            _ = try library.store.rebuild(
                RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 20_000))
        }
        try sweep("sweep", library) { try self.sweepOrphan(library, $0) }
        try sweep("model", library) { try library.reopen(version: $0 + 1) }
        library.close()
        try sweepMany()
        try sweepCreation()
    }

    /// With a new store now and then, so that checking its log stays short.
    private func sweepMany() throws {
        var many: Library?
        try sweep("many") { nth in
            if nth % 6 == 1 {
                many?.close()
                let fresh = try Library(root.appending(component: "many-\(nth).strata"))
                try seed(fresh, Library.many)
                many = fresh
            }
            guard let many else { fail("there is no store") }
            return many
        } work: { library, _ in
            try library.renameAll()
        }
        many?.close()
    }

    private func sweep(_ name: String, _ library: Library, _ work: (Int) throws -> Void) throws {
        try sweep(name) { _ in
            library
        } work: { _, nth in
            try work(nth)
        }
    }

    private func sweep(
        _ name: String, in library: (Int) throws -> Library, work: (Library, Int) throws -> Void
    ) throws {
        for nth in 1...2_000 {
            let library = try library(nth)
            let place = "\(name), call \(nth)"
            let (result, hits) = Fault.during(classes, nth: nth, error: error, manner: manner) {
                try work(library, nth)
            }
            switch result {
            case .success: expect(hits <= 1, place)
            case .failure(let error):
                check(error, hits, place)
                if !needsOpening(name) { try library.check(place) }
                try library.reopen()
                try library.check("\(place), reopened")
                try work(library, nth)
            }
            try library.check("\(place), done")
            if hits == 0 { return say("\(name): \(nth - 1) calls") }
        }
        fail("\(name) never ran without a failure")
    }

    /// Whether the work, cut short, leaves a store that must be opened: closed, or with a mark of where to go on.
    private func needsOpening(_ name: String) -> Bool { name == "model" || name == "rebuild in steps" }

    private func check(_ error: any Error, _ hits: Int, _ place: String) {
        expect(hits == 1, "\(place): \(error) without a failing call")
        guard let error = error as? StrataError else { fail("\(place): \(type(of: error)) \(error)") }
        expect(error.code == .noSpace, "\(place): \(error)")
    }

    private func seed(_ library: Library, _ count: Int = 40) throws {
        var draft = try library.draft()
        for _ in 0..<count { try library.insert(&draft) }
        try library.insert(&draft, cover: Data(count: 50_000))
        try library.commit(draft)
    }

    private func insert(_ library: Library) throws {
        var draft = try library.draft()
        for _ in 0..<5 { try library.insert(&draft) }
        try library.commit(draft)
    }

    private func change(_ library: Library) throws {
        var draft = try library.draft()
        let ids = library.titles.keys.sorted()
        try library.rename([ids[0]], &draft)
        try library.tag(ids[1], &draft)
        try library.delete(ids[2], &draft)
        try library.insert(&draft)
        try library.commit(draft)
    }

    private func insertCover(_ library: Library, _ nth: Int) throws {
        var draft = try library.draft()
        try library.insert(&draft, cover: Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* nth) }))
        try library.commit(draft)
    }

    private func sweepOrphan(_ library: Library, _ nth: Int) throws {
        let orphan = try library.store.stageBlob(Data("nobody names this \(nth)".utf8))
        // The sweep that an opening begins may be at it just now.
        for _ in 0..<1_000 where (try? library.store.blob(orphan)) != nil {
            if try library.store.sweepBlobs() == 0 { usleep(1_000) }
        }
        expect((try? library.store.blob(orphan)) == nil, "nothing was swept")
    }

    private func backUp(_ library: Library, _ nth: Int) throws {
        let target = root.appending(component: "backup-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: target) }
        do {
            try library.store.backup(to: target)
        } catch {
            let names = try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))
            expect(!names.contains { $0.contains("backup-") }, "backup, call \(nth): \(names) are left")
            throw error
        }
    }

    private func sweepCreation() throws {
        for nth in 1...2_000 {
            let place = "creation, call \(nth)"
            let directory = root.appending(component: "new-\(nth).strata")
            let (result, hits) = Fault.during(classes, nth: nth, error: error, manner: manner) {
                try Library(directory)
            }
            if case .failure(let error) = result { check(error, hits, place) }
            let library = try (try? result.get()) ?? Library(directory)
            try seed(library)
            try library.check(place)
            library.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false))
            expect(!names.contains { $0.hasPrefix(".new-") }, "\(place): \(names)")
            if hits == 0 { return say("creation: \(nth - 1) calls") }
        }
        fail("creation never ran without a failure")
    }
}
