import FaultShim
import Foundation
import Locking
import StrataModel
import StrataStore

/// A fault that the functions in libc's and LMDB's place make on purpose, to see that it is found.
enum PlantedFault: String {
    case noSync, headFirst, unsyncedHead, lostWrite, tornWrite, noNameSync, noLock, earlyReuse, noEvent, noEntry

    /// From the nth occasion on.
    func plant(nth: Int) { fault_plant(Int32(kind), nth) }

    private var kind: Int {
        switch self {
        case .noSync: PLANT_NO_SYNC
        case .headFirst: PLANT_HEAD_FIRST
        case .unsyncedHead: PLANT_UNSYNCED_HEAD
        case .lostWrite: PLANT_LOST_WRITE
        case .tornWrite: PLANT_TORN_WRITE
        case .noNameSync: PLANT_NO_NAME_SYNC
        case .noLock: PLANT_NO_LOCK
        case .earlyReuse: PLANT_EARLY_REUSE
        case .noEvent: PLANT_NO_EVENT
        case .noEntry: PLANT_NO_ENTRY
        }
    }
}

extension Work {
    /// Saves of one thread while another reads a state of before them, whose objects must stay as they are.
    func watch() throws {
        let store = try openAsItIs()
        var saver = try Saver(store, thread: 1)
        for _ in 1...10 { _ = try saver.save() }
        try store.read(at: try store.head()) { snapshot in
            let objects = try Self.objects(of: snapshot, store.schema)
            try savesOfAnotherThread(saver)
            if try Self.objects(of: snapshot, store.schema) != objects { fatalError("an older state has changed") }
        }
        let report = try store.verify()
        if !report.isSound { fatalError("\(report.problems.map(\.description))") }
        store.close()
    }

    /// Saves so many times, and waits for it.
    private func savesOfAnotherThread(_ saver: Saver) throws {
        let result = Locked<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var saver = saver
            do {
                for _ in 1...rounds { _ = try saver.save() }
            } catch {
                result.withLock { $0 = error }
            }
            done.signal()
        }
        done.wait()
        if let error = result.withLock({ $0 }) { throw error }
    }

    static func objects(of snapshot: Snapshot, _ schema: Schema) throws -> [ObjectID: RowImage] {
        var objects: [ObjectID: RowImage] = [:]
        for entity in schema.entities {
            try snapshot.scan(entity.id) { id, row in
                objects[id] = try row.converted(to: entity)
                return true
            }
        }
        return objects
    }

    /// Saves of a thread of this number only.
    func saves(ofThread thread: Int) throws {
        let store = try openAsItIs()
        var saver = try Saver(store, thread: thread)
        for _ in 1...rounds { say(thread, try saver.save()) }
        store.close()
    }
}
