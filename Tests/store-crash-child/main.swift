// Works on a store without end, and says after each piece of work that it is done; the crash tests kill it in the
// middle.
//
//     store-crash-child STORE DURABILITY saves|rebuild|models|create|backup|migrate
//
// - saves: three threads save at once; see `Saver`. Says "thread number".
// - rebuild: rebuilds every view in many small commits. Says "0 count".
// - models: installs one model after the other, each with one more indexed attribute. Says "0 extras".
// - create: makes new stores beside the given one, each with one movie. Says "0 count".
// - backup: saves once and makes backups beside the store, one after the other. Says "0 count".
// - migrate: turns the type of an attribute of every movie back and forth, a few movies a commit. Says "0 count".

import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// Prints at once and in one piece, whichever thread calls.
@Sendable func say(_ thread: Int, _ number: Int) {
    FileHandle.standardOutput.write(Data("\(thread) \(number)\n".utf8))
}

struct Work: Sendable {
    let directory: URL
    let options: StoreOptions

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

    func saves() throws {
        let store = try openAsItIs()
        for thread in 1...3 {
            let saver = try Saver(store, thread: thread)
            Thread.detachNewThread {
                var saver = saver
                do {
                    while true { say(thread, try saver.save()) }
                } catch {
                    fatalError("\(error)")
                }
            }
        }
        while true { sleep(1_000) }
    }

    func rebuild() throws {
        let store = try openAsItIs()
        var count = 0
        while true {
            _ = try store.rebuild(RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 2_000))
            count += 1
            say(0, count)
        }
    }

    func models() throws {
        let store = try openAsItIs()
        var extras = CrashModel.extras(of: store.schema)
        store.close()
        while true {
            extras += 1
            try open(try CrashModel.make(extras: extras)).close()
            say(0, extras)
        }
    }

    func create() throws {
        var count = 0
        while true {
            count += 1
            let place = beside(count)
            let store = try Store.open(.directory(place), model: try CrashModel.make(), options: options)
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
        for _ in 0..<5 { _ = try saver.save() }
        var count = 0
        while true {
            count += 1
            let place = beside(count)
            try store.backup(to: place)
            say(0, count)
        }
    }

    /// The next model is the one that the store has not, whoever was killed while bringing it there.
    func migrate() throws {
        var options = options
        options.migration.allowsDowngrade = true
        options.migration.limits.objectsInOneCommit = 0
        options.migration.limits.objectsInStep = 1
        var count = 0
        while true {
            for type in [AttributeType.string, .integer64] {
                try Store.open(.directory(directory), model: try MigratedModel.make(type), options: options).close()
                count += 1
                say(0, count)
            }
        }
    }
}

/// Notes with an attribute of one type or another.
enum MigratedModel {
    static func make(_ type: AttributeType) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [.attribute(AttributeDescription(name: "x", type: type, isOptional: true))],
                indexes: [FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])])
        ])
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let durability = StoreDurability(rawValue: arguments[2]) else {
    FileHandle.standardError.write(
        Data("usage: store-crash-child STORE full|relaxed|disposable saves|rebuild|models|create\n".utf8))
    exit(2)
}
var options = StoreOptions()
options.durability = durability
options.rowLeaseSize = 64
options.bufferLimits = .eager
let work = Work(directory: URL(filePath: arguments[1], directoryHint: .isDirectory), options: options)
switch arguments[3] {
case "rebuild": try work.rebuild()
case "models": try work.models()
case "create": try work.create()
case "backup": try work.backup()
case "migrate": try work.migrate()
default: try work.saves()
}
