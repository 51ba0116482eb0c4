import Foundation
import StrataModel
import StrataStore

/// Checks a state that a power cut may have left: the stores open and verify, hold all that they have promised to hold,
/// and take another save.
struct ImageCheck {
    private let root: URL
    private let work: String
    private let options: StoreOptions
    private let said: [Int: Int]
    private let isKill: Bool

    /// What is wrong.
    struct Finding: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - said: the last number of each kind that was acknowledged.
    ///   - isKill: whether only the process has ended, which takes nothing at any durability.
    init(_ root: URL, _ work: String, _ options: StoreOptions, _ said: [Int: Int], isKill: Bool) {
        self.root = root
        self.work = work
        self.options = options
        self.said = said
        self.isKill = isKill
    }

    func run() throws {
        let directory = Recording.store(in: root)
        switch work {
        case "migrate": try checkNotes(directory)
        case "create": try checkCreated()
        default:
            try checkSaves(directory)
            if work == "backup" { try checkBackups() }
        }
    }

    private func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Finding(description: text()) }
    }

    // MARK: Saves

    private func checkSaves(_ directory: URL) throws {
        let store = try Store.open(.directory(directory), model: nil, options: options)
        defer { store.close() }
        try checkNumbers(store)
        let extras = CrashModel.extras(of: store.schema)
        if work == "models" { try expect(extras >= promised(said[0] ?? 0), "model \(extras) of \(said[0] ?? 0)") }
        try verify(store, "found")
        var saver = try Saver(store, thread: 1)
        _ = try saver.save()
        try verify(store, "after a save")
    }

    /// What is still there of so much that was acknowledged: relaxed durability may lose one commit, and a thread has one
    /// save in it at most. With checkpoints, what was closed is there.
    private func promised(_ acknowledged: Int) -> Int {
        switch options.durability {
        case .full, .journaled: return acknowledged
        // The check opens the store after another start of the system, so also a kill takes it back.
        case .checkpointed: return work == "create" ? acknowledged : 0
        case .relaxed, .disposable: return isKill ? acknowledged : acknowledged - 1
        }
    }

    /// The saves of each thread are there without a gap, as many as were acknowledged, and at most one more.
    private func checkNumbers(_ store: Store) throws {
        var numbers: [Int: [Int]] = [:]
        for transaction in try store.transactions(limit: .max) {
            guard let thread = transaction.metadata["t"].flatMap({ Int($0) }),
                let number = transaction.metadata["n"].flatMap({ Int($0) })
            else { continue }
            numbers[thread, default: []].append(number)
        }
        var movies = 0
        for thread in 1...3 {
            let saved = numbers[thread] ?? []
            let before = said[Recording.before + thread] ?? 0
            let acknowledged = max(said[thread] ?? 0, before)
            try expect(saved == Array(1..<saved.count + 1), "thread \(thread): saves \(saved)")
            try expect(
                saved.count >= max(before, promised(acknowledged)) && saved.count <= acknowledged + 1,
                "thread \(thread): \(saved.count) saves are there, \(acknowledged) were acknowledged")
            movies += saved.count - max(0, saved.count / 7 - 1)
        }
        let found = try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
        try expect(found == movies, "\(found) movies instead of \(movies)")
    }

    private func verify(_ store: Store, _ place: String) throws {
        let report = try store.verify()
        try expect(report.isSound, "\(place): \(report.problems.map(\.description))")
    }

    // MARK: Directories beside the store

    /// The directories `main.strata-1` and so on.
    private func numbered() throws -> [(number: Int, url: URL)] {
        try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false)).compactMap { name in
            guard name.hasPrefix("main.strata-") else { return nil }
            return Int(name.dropFirst("main.strata-".count)).map {
                ($0, root.appending(path: name, directoryHint: .isDirectory))
            }
        }
    }

    private func checkCreated() throws {
        let made = try numbered()
        let acknowledged = said[0] ?? 0
        for number in 1..<acknowledged + 1 {
            try expect(made.contains { $0.number == number }, "store \(number) is gone, \(acknowledged) were made")
        }
        for (number, url) in made {
            // The next opening finishes an interrupted one.
            let store = try Store.open(.directory(url), model: try CrashModel.make(), options: options)
            defer { store.close() }
            let saves = try store.transactions(limit: .max).count { $0.metadata["n"] != nil }
            let least = number < acknowledged || number == acknowledged && promised(1) == 1 ? 1 : 0
            try expect(saves >= least && saves <= 1, "store \(number) has \(saves) saves, \(acknowledged) were made")
            try verify(store, "store \(number)")
            var saver = try Saver(store, thread: 1)
            _ = try saver.save()
            try verify(store, "store \(number) after a save")
        }
    }

    /// A backup is there whole or not at all.
    private func checkBackups() throws {
        let made = try numbered()
        for number in 1..<(said[0] ?? 0) + 1 {
            try expect(made.contains { $0.number == number }, "backup \(number) is gone")
        }
        for (number, url) in made {
            let copy = try Store.open(.directory(url), model: nil)
            defer { copy.close() }
            try verify(copy, "backup \(number)")
            try expect(try copy.statistics().blobs.fileCount == 2, "backup \(number): large values")
        }
    }

    // MARK: Migrations

    /// The next opening finishes what was begun, and every value is there.
    private func checkNotes(_ directory: URL) throws {
        var options = options
        options.migration.allowsDowngrade = true
        var last: StrataError?
        for type in [AttributeType.string, .integer64, .string] {
            do {
                let store = try Store.open(.directory(directory), model: try MigratedModel.make(type), options: options)
                defer { store.close() }
                let values = try MigratedModel.values(store)
                try expect(values == Set((0..<Recording.noteCount).map(String.init)), "values \(values.sorted())")
                try verify(store, "as \(type)")
                last = nil
            } catch let error as StrataError where error.code == .migration {
                // The other model was on its way in.
                last = error
            }
        }
        if let last { throw last }
    }
}
