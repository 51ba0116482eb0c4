// Works on a store without end, and says after each piece of work that it is done; the crash tests kill it in the
// middle.
//
//     store-crash-child STORE DURABILITY saves|rebuild|models|create
//
// - saves: three threads save at once; see `Saver`. Says "thread number".
// - rebuild: rebuilds every view in many small commits. Says "0 count".
// - models: installs one model after the other, each with one more indexed attribute. Says "0 extras".
// - create: makes new stores beside the given one, each with one movie. Says "0 count".

import Foundation
import StrataModel
import StrataStore

/// Prints at once and in one piece, whichever thread calls.
@Sendable func say(_ thread: Int, _ number: Int) {
    FileHandle.standardOutput.write(Data("\(thread) \(number)\n".utf8))
}

struct Work: Sendable {
    let directory: URL
    let options: StoreOptions

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
            let place = URL(filePath: directory.path(percentEncoded: false) + "-\(count)", directoryHint: .isDirectory)
            let store = try Store.open(.directory(place), model: try CrashModel.make(), options: options)
            var saver = try Saver(store, thread: 1)
            _ = try saver.save()
            store.close()
            say(0, count)
        }
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
let work = Work(directory: URL(filePath: arguments[1], directoryHint: .isDirectory), options: options)
switch arguments[3] {
case "rebuild": try work.rebuild()
case "models": try work.models()
case "create": try work.create()
default: try work.saves()
}
