// Works on a store without end, and says after each piece of work that it is done; the crash tests kill it in the
// middle.
//
//     store-crash-child STORE DURABILITY saves|rebuild|models|create|backup|migrate|trim|thin|seal|erase|views
//
// - saves: three threads save at once; see `Saver`. Says "thread number".
// - rebuild: rebuilds every view in many small commits. Says "0 count".
// - models: installs one model after the other, each with one more indexed attribute. Says "0 extras".
// - create: makes new stores beside the given one, each with one movie. Says "0 count".
// - backup: saves once and makes backups beside the store, one after the other. Says "0 count".
// - migrate: turns the type of an attribute of every movie back and forth, a few movies a commit. Says "0 count".
// - trim: one thread saves, another drops the history but for the last ten transactions. Says "1 number" of saves, and
//   "0 count" of truncations.
// - seal: one thread saves, another upgrades the store, a few events a commit. Says "1 number" of saves, and "0 count" of
//   upgrades.
// - views: gives the store other versions of its views, one after the other, each built beside saves of thread 1. Says
//   "1 number" of saves, and "0 version" of versions.
// - thin: one thread saves notes, another drops their replaced values but for the last five transactions. Says "1 number"
//   of saves, and "0 count" of thinnings.
// - erase: one thread saves, another erases objects; see `Erasing`. Says "1 number" of saves, and "0 number" of erasures.
//
// The same work, done a few times and recorded, and the states that a power cut during it may leave (`Recording`):
//
//     store-crash-child record DIRECTORY DURABILITY WORK TRACE ROUNDS [FAULT NTH]
//     store-crash-child images|kills DIRECTORY DURABILITY WORK TRACE SEED FIRST COUNT
//     store-crash-child damage DIRECTORY DURABILITY WORK TRACE SEED FIRST COUNT
//
// Simulations (`Simulation`), from a seed on, each with so many steps; then a check of so many power cuts of each:
//
//     store-crash-child simulate|check DIRECTORY DURABILITY SEED COUNT STEPS CUTS
//
// And work with a fault that is planted (`Recorder.h`):
//
//     store-crash-child planted STORE DURABILITY WORK ROUNDS [FAULT]

import FaultShim
import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// Prints at once and in one piece, whichever thread calls.
@Sendable func say(_ thread: Int, _ number: Int) {
    record_mark(thread, number)
    FileHandle.standardOutput.write(Data("\(thread) \(number)\n".utf8))
}

struct Work: Sendable {
    let directory: URL
    let options: StoreOptions
    /// How often a piece of work is done.
    var rounds = Int.max

    /// A place beside the store.
    func beside(_ count: Int) -> URL {
        directory.deletingLastPathComponent()
            .appending(path: "\(directory.lastPathComponent)-\(count)", directoryHint: .isDirectory)
    }

    func open(_ model: ManagedObjectModel?) throws -> Store {
        try Store.open(.directory(directory), model: model, options: options)
    }

    /// The model is the store's own once it has one.
    func openAsItIs() throws -> Store {
        let isThere = FileManager.default.fileExists(atPath: directory.appending(component: "data.mdb").path())
        guard isThere else { return try open(try CrashModel.make()) }
        do {
            return try open(nil)
        } catch let error as StrataError where error.code == .invalidModel {
            // Killed before the first model was installed.
            return try open(try CrashModel.make())
        }
    }

    func saves(threads: Int = 3) throws {
        let store = try openAsItIs()
        let saving = try (1...threads).map { thread in
            let saver = try Saver(store, thread: thread)
            return onThread {
                var saver = saver
                for _ in 1...rounds { say(thread, try saver.save()) }
            }
        }
        for group in saving { group.wait() }
        store.close()
    }

    func rebuild() throws {
        let store = try openAsItIs()
        for count in 1...rounds {
            _ = try store.rebuild(RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 2_000))
            say(0, count)
        }
        store.close()
    }

    func models() throws {
        let store = try openAsItIs()
        let extras = CrashModel.extras(of: store.schema)
        store.close()
        for count in 1...rounds {
            try open(try CrashModel.make(extras: extras + count)).close()
            say(0, extras + count)
        }
    }

    func create() throws {
        for count in 1...rounds {
            let store = try Store.open(.directory(beside(count)), model: try CrashModel.make(), options: options)
            var saver = try Saver(store, thread: 1)
            _ = try saver.save()
            store.close()
            say(0, count)
        }
    }
}

extension Work {
    func backup() throws {
        let store = try openAsItIs()
        var saver = try Saver(store, thread: 1)
        for _ in 0..<5 { record_mark(1, try saver.save()) }
        for count in 1...rounds {
            try store.backup(to: beside(count))
            say(0, count)
        }
        store.close()
    }

    /// The next model is the one that the store has not, whoever was killed while bringing it there.
    func migrate() throws {
        var options = options
        options.migration.allowsDowngrade = true
        options.migration.limits.objectsInOneCommit = 0
        options.migration.limits.objectsInStep = 1
        for count in 1...rounds {
            let model = try MigratedModel.make(count % 2 == 1 ? .string : .integer64)
            try Store.open(.directory(directory), model: model, options: options).close()
            say(0, count)
        }
    }

    /// Upgrades in many small commits, beside saves of thread 1 that pack nothing.
    func seal() throws {
        var options = options
        (options.packing.fewestInTransaction, options.packing.newestApart) = (1 << 40, 1 << 40)
        let store = try Work(directory: directory, options: options).openAsItIs()
        let saving = try saveBeside(store)
        for count in 1...rounds {
            let report = try store.upgrade(keeping: 5)
            if report.stepCount > 0 { say(0, count) } else { usleep(500) }
        }
        saving.wait()
        store.close()
    }

    /// Saves of thread 1, on a thread of its own.
    ///
    /// - Returns: what they leave when they are done.
    private func saveBeside(_ store: Store) throws -> DispatchGroup {
        let saver = try Saver(store, thread: 1)
        return onThread {
            var saver = saver
            for _ in 1...rounds { say(1, try saver.save()) }
        }
    }

    /// Runs the body on a thread of its own. An error ends the process.
    ///
    /// - Returns: what the thread leaves at its end.
    func onThread(_ body: @escaping @Sendable () throws -> Void) -> DispatchGroup {
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            do {
                try body()
            } catch {
                fatalError("\(error)")
            }
            group.leave()
        }
        return group
    }

    /// Truncations in many small commits, beside saves of thread 1.
    func trim() throws {
        let store = try openAsItIs()
        let limits = TrimLimits(events: 3)
        let saving = try saveBeside(store)
        for count in 1...rounds {
            let end = try store.lastEvent(beyond: .transactions(10)) ?? .zero
            let report = try store.truncateHistory(through: end, MaintenanceNote(author: "child"), limits: limits)
            if report.droppedTransactions > 0 { say(0, count) } else { usleep(500) }
        }
        saving.wait()
        store.close()
    }

    /// The next version is the one that the store has not, whoever was killed while building it.
    func views() throws {
        var options = options
        options.viewStepLimits.objects = 3
        options.viewStepLimits.eventsInLastStep = 2
        let store = try openAsItIs()
        let known = store.schema.model.views.map(\.version).max() ?? 0
        store.close()
        for version in (known + 1)...(known + min(rounds, 1_000_000)) {
            let model = try CrashModel.withViews(version)
            let store = try Store.open(.directory(directory), model: model, options: options)
            var saver = try Saver(store, thread: 1)
            for _ in 0..<6 { say(1, try saver.save()) }
            // Some are replaced while they are built.
            if version % 3 != 0 { try store.wait(forView: "ByOwner", to: nil, timeout: .seconds(30)) }
            for _ in 0..<2 { say(1, try saver.save()) }
            store.close()
            say(0, version)
        }
    }

    func run(_ name: String) throws {
        switch name {
        case "rebuild": try rebuild()
        case "models": try models()
        case "create": try create()
        case "backup": try backup()
        case "migrate": try migrate()
        case "trim": try trim()
        case "thin": try thin()
        case "seal": try seal()
        case "erase": try erase()
        case "views": try views()
        case "compact": try compact()
        case "upgrade": try upgrade()
        case "rotate": try rotate()
        case "restore": try restore()
        case "subjects": try subjects()
        case "ship": try ship()
        case "thinnedship": try ship(keepingSnapshots: 2)
        case "follow": try ship(follows: true)
        case "alone": try saves(threads: 1)
        case "second": try saves(ofThread: 2)
        case "watch": try watch()
        default: try saves()
        }
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let durability = StoreDurability(rawValue: arguments[arguments.count > 4 ? 3 : 2]) else {
    FileHandle.standardError.write(
        Data("usage: store-crash-child STORE full|journaled|relaxed|checkpointed|disposable WORK\n".utf8))
    exit(2)
}
var options = StoreOptions()
options.durability = durability
options.rowLeaseSize = 64
options.checkpointInterval = .milliseconds(3)
options.bufferLimits = .eager
options.packing = .eager
CountedNumbers.register()
switch arguments[1] {
case "record": try Recording(arguments, options).run()
case "images", "kills": try ImageRun(arguments, options).run()
case "damage": try DamageRun(arguments, options).run()
case "simulate", "check":
    // No lease of row numbers comes in the middle, from a thread of its own.
    options.rowLeaseSize = 1 << 20
    let run = try SimulationRun(arguments, options)
    if arguments[1] == "simulate" { try run.simulate() } else { try run.check() }
case "planted":
    if arguments.count > 6 { PlantedFault(rawValue: arguments[6])?.plant(nth: 1) }
    let store = URL(filePath: arguments[2], directoryHint: .isDirectory)
    try Work(directory: store, options: options, rounds: Int(arguments[5]) ?? 1).run(arguments[4])
default:
    try Work(directory: URL(filePath: arguments[1], directoryHint: .isDirectory), options: options).run(arguments[3])
}
