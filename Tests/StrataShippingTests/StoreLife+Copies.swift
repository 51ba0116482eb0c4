import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataShipping

// What is made of the store elsewhere: targets, standbys, restored stores, and what a killed process leaves.

extension StoreLife {
    /// The store is lost, and what was shipped goes on.
    func goOnFromTarget() throws {
        _ = try LogShipper(container.store, target).ship()
        let place = nextPlace()
        _ = try TargetRestore(target).run(to: place, .now)
        try move(to: place)
        beginTarget()
    }

    func makeStandby() throws {
        _ = try LogShipper(container.store, target).ship()
        let place = nextPlace()
        try expectFollows(place)
        if standby == nil { standby = place }
    }

    /// The standby of long ago takes over what has happened since. It has to be made anew where history was dropped that
    /// had not been shipped.
    func follow() throws {
        guard let place = standby else { return }
        _ = try LogShipper(container.store, target).ship()
        do {
            try expectFollows(place)
        } catch let error as StrataError where Self.lacksHistory(error) {
            #expect(cut > .zero || thinned > .zero, "\(error): \(comment)")
            try FileManager.default.removeItem(at: place)
            standby = nil
        }
    }

    /// Whether a target lacks transactions that were dropped before they were shipped.
    private static func lacksHistory(_ error: StrataError) -> Bool {
        [.historyDropped, .targetIncomplete].contains(error.code)
    }

    private func expectFollows(_ place: URL) throws {
        let standby = try Standby(target, at: place)
        do {
            defer { standby.close() }
            let end = try standby.catchUp().position
            #expect(end == (try container.store.logPosition()), comment)
            #expect(try standby.store().verify().isSound, comment)
        }
        let reader = try made(place, isReadOnly: true)
        defer { reader.close() }
        #expect(try Self.state(reader.newBackgroundContext()) == now, comment)
    }

    /// What was shipped restores to any moment, also to one that the store has let go, unless that was dropped before.
    func restoreAMoment() throws {
        _ = try LogShipper(container.store, target).ship()
        guard let moment = history.filter({ $0.event > .zero }).randomElement(using: &random) else { return }
        let place = nextPlace()
        do {
            _ = try TargetRestore(target).run(to: place, .event(moment.event))
        } catch let error as StrataError where Self.lacksHistory(error) {
            #expect(cut > .zero || thinned > .zero, "event \(moment.event), \(error): \(comment)")
            return
        }
        defer { try? FileManager.default.removeItem(at: place) }
        let copy = try Store.open(.directory(place), model: nil, options: readingOptions)
        defer { copy.close() }
        #expect(try copy.verify().isSound, comment)
        var ids: Set<ObjectID> = []
        try copy.read(at: copy.head()) { snapshot in
            for entity in snapshot.schema.entities where !entity.isAbstract {
                try snapshot.scan(entity.id) { id, _ in
                    ids.insert(id)
                    return true
                }
            }
        }
        let there = Set(moment.state.filter { $0.value["erased"] == nil }.keys)
        #expect(ids == there, "restored to \(moment.event): \(comment)")
    }

    private var readingOptions: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = true
        options.encryptionKeys = { [] }
        return options
    }

    /// The process is killed: the files are as they lie, without the checkpoint that closing makes, and the store goes on
    /// from there.
    func kill() throws {
        let place = nextPlace()
        let path = url.appending(component: "writer.lock").path(percentEncoded: false)
        let lock = Foundation.open(path, O_RDWR | O_CREAT, 0o600)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        try FileManager.default.copyItem(at: url, to: place)
        close(lock)
        try move(to: place)
    }
}
