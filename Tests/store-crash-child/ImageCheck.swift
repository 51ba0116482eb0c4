import Foundation
import StrataModel
import StrataStore

/// Checks a state that a power cut may have left: the stores open and verify, hold all that they have promised to hold,
/// and take another save.
struct ImageCheck {
    let root: URL
    private let work: String
    let options: StoreOptions
    /// The last number of each kind that was acknowledged.
    let said: [Int: Int]
    private let end: End

    /// What has ended in the middle.
    enum End {
        /// The process only, which takes nothing at any durability.
        case ofProcess
        /// The system, after it had written everything to the disk.
        case orderly
        case ofPower
    }

    /// What is wrong.
    struct Finding: Error, CustomStringConvertible {
        let description: String
    }

    init(_ root: URL, _ work: String, _ options: StoreOptions, _ said: [Int: Int], _ end: End) {
        self.root = root
        self.work = work
        self.options = options
        self.said = said
        self.end = end
    }

    /// The work that was done here.
    var recorded: Work { Work(directory: Recording.store(in: root), options: options) }

    func run() throws {
        let directory = Recording.store(in: root)
        switch work {
        case "migrate": try checkNotes(directory)
        case "create": try checkCreated()
        case "trim": try checkTrimmed()
        case "upgrade": try checkUpgraded()
        case "rotate": try checkRotated()
        case "restore": try checkRestored()
        case "subjects": try checkSubjects()
        case "erase": try checkErased()
        case "thin": try checkThinned()
        case "ship", "thinnedship", "follow": try checkShipped()
        default:
            try checkSaves(directory)
            if work == "backup" { try checkBackups() }
        }
    }

    func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Finding(description: text()) }
    }

    // MARK: Saves

    private func checkSaves(_ directory: URL) throws {
        try checkReader(directory)
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

    /// Who opens the store for reading first sees what is promised, or is refused.
    private func checkReader(_ directory: URL) throws {
        var reading = options
        reading.isReadOnly = true
        let store: Store
        do {
            store = try Store.open(.directory(directory), model: nil, options: reading)
        } catch let error as StrataError where [.persistentStoreOpen, .persistentStoreTimeout].contains(error.code) {
            return try expect(error.message.contains("for writing"), "a reader is refused: \(error)")
        }
        defer { store.close() }
        try checkNumbers(store)
    }

    /// What is still there of so much that was acknowledged: relaxed durability may lose one commit, and a thread has one
    /// save in it at most. With checkpoints, what was closed is there.
    private func promised(_ acknowledged: Int) -> Int {
        switch options.durability {
        case .full, .journaled: return acknowledged
        // After another start of the system the store goes back to its checkpoint, whatever the disk has.
        case .checkpointed: return work == "create" || end == .ofProcess ? acknowledged : 0
        case .relaxed, .disposable: return end == .ofPower ? acknowledged - 1 : acknowledged
        }
    }

    /// The numbers of the saves of each thread, in the order of the log.
    func saves(_ store: Store) throws -> [Int: [Int]] {
        var numbers: [Int: [Int]] = [:]
        for transaction in try store.transactions(limit: .max) {
            guard let thread = transaction.metadata["t"].flatMap({ Int($0) }),
                let number = transaction.metadata["n"].flatMap({ Int($0) })
            else { continue }
            numbers[thread, default: []].append(number)
        }
        return numbers
    }

    /// The saves of each thread are there without a gap, as many as were acknowledged, and at most one more.
    private func checkNumbers(_ store: Store) throws {
        let numbers = try saves(store)
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

    func verify(_ store: Store, _ place: String) throws {
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
