import FaultShim
import Foundation
import StrataStore

/// The names of files, which are durable when their directories have been synced.
struct Names {
    let root: URL

    func run() throws {
        try aValueThatIsThere()
        say("a value that is there")
        try directoriesAboveANewStore()
        say("directories above a new store")
        try directoriesThatOthersMade()
        say("directories that others made")
    }

    /// How often the body syncs.
    private func syncs<R>(_ body: () throws -> R) rethrows -> Int {
        let before = fault_syncs()
        _ = try body()
        return fault_syncs() - before
    }

    private func value(_ byte: UInt8) -> Data { Data(repeating: byte, count: 100_000) }

    /// A save is acknowledged only when the names of its large values are durable, whoever has written the files.
    private func aValueThatIsThere() throws {
        let library = try Library(root.appending(component: "value.strata"))
        defer { library.close() }
        let lease = try library.store.beginBlobLease()
        defer { withExtendedLifetime(lease) {} }
        _ = try library.store.stageBlob(value(1))
        expect(try syncs { _ = try library.store.stageBlob(value(2)) } == 3, "a file, its directory, and the one above")
        // The file gets its name, and its directory is not synced.
        let (result, hits) = Fault.during(FAULT_SYNC, nth: 2, error: EIO) { try library.store.stageBlob(value(3)) }
        guard case .failure = result, hits == 1 else { fail("the value was written: \(result)") }
        let again = try syncs { _ = try library.store.stageBlob(value(3)) }
        expect(again == 2, "\(again) syncs make the name of a file durable that is there")
        var draft = try library.draft()
        try library.insert(&draft, cover: value(3))
        try library.commit(draft)
        let named = try syncs { _ = try library.store.stageBlob(value(3)) }
        expect(named == 0, "\(named) syncs for a value that an event names")
    }

    /// A new store has a name of its own in a directory that may be new as well.
    private func directoriesAboveANewStore() throws {
        func make(_ path: String) throws -> Int {
            let model = try Library.model(version: 1)
            return try syncs { try Store.open(.directory(root.appending(path: path)), model: model).close() }
        }
        let plain = try make("plain.strata")
        let deep = try make("new/newer/deep.strata")
        expect(deep == plain + 2, "\(plain) syncs, \(deep) below two new directories")
        let again = try make("plain.strata")
        expect(again == 0, "\(again) syncs for a store that is there")
    }

    /// Another process may have made `blobs` just now, and not synced it yet.
    private func directoriesThatOthersMade() throws {
        let directory = root.appending(component: "others.strata")
        let library = try Library(directory)
        defer { library.close() }
        let lease = try library.store.beginBlobLease()
        defer { withExtendedLifetime(lease) {} }
        try FileManager.default.createDirectory(
            at: directory.appending(component: "blobs"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let first = try syncs { _ = try library.store.stageBlob(value(1)) }
        let second = try syncs { _ = try library.store.stageBlob(value(2)) }
        expect(first == second + 1, "\(first) syncs in a directory that another process made, then \(second)")
    }
}
