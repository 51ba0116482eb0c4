import Foundation
import StrataModel
import StrataStore
import Synchronization
import Testing

extension MigratedStore {
    /// Opens the store with one model after another and removes it. Each model is filled when it comes first; whatever it
    /// showed then, or later, it shows again. A log that was cut under another model meanwhile may have lost a part of it.
    ///
    /// - Parameter losesNothing: whether a log that was cut has all that models hide.
    func travel(
        _ models: [Character: ManagedObjectModel], _ path: String, over history: TravelHistory = .whole,
        losesNothing: Bool = false, fill: (Character, StoreFixture) throws -> Void
    ) throws {
        defer { remove() }
        var dumps: [Character: StateDump] = [:]
        /// The models of which the log may have lost something.
        var cut: Set<Character> = []
        var states: [(event: EventNumber, dump: StateDump)] = []
        var before: Character?
        for (step, name) in path.enumerated() {
            let place: Comment = "\(history), \(name), step \(step) of \(path)"
            let model = try #require(models[name])
            let killed = step > 0 && history == .killed ? try migrateCopies(model, history.options) : []
            try open(model, history.options) { fixture in
                let store = fixture.store
                let shown = try StateDump(store, at: store.head())
                for dump in killed { #expect(dump == shown, place) }
                if let dump = dumps[name] { Self.expect(shown, dump, isCut: cut.contains(name), place) }
                if step > 0 { try Self.expectConversion(to: shown, store, place) }
                if dumps[name] == nil { try fill(name, fixture) }
                let dump = try StateDump(store, at: store.head())
                states.append((try store.head(), dump))
                try history.drop(store, isFirst: step == 0)
                try #expect(StateDump(store, at: store.head()) == dump, place)
                if history.isCut, !losesNothing { cut.formUnion(dumps.keys) }
                if history.keepsModelBefore, let before { cut.remove(before) }
                cut.remove(name)
                dumps[name] = dump
                before = name
                try Self.expectStates(states, store, place)
                try #expect(fixture.store.rebuild().isUnchanged, place)
            }
        }
    }

    private static func expect(_ shown: StateDump, _ dump: StateDump, isCut: Bool, _ place: Comment) {
        for (id, held) in dump.objects {
            for (property, value) in held {
                let now = known(shown[id, property], dump)
                let isRight = now == value || isCut && isLess(now, than: value)
                #expect(isRight, "\(place): \(property) of \(id) is \(String(describing: now)), not \(value)")
            }
        }
    }

    /// Without the members that a model did not show before.
    private static func known(_ held: StateDump.Held?, _ dump: StateDump) -> StateDump.Held? {
        guard case .members(let members)? = held else { return held }
        return .members(members.filter { dump.objects[$0] != nil })
    }

    /// Whether something is a part of what was held, and nothing else.
    private static func isLess(_ now: StateDump.Held?, than before: StateDump.Held) -> Bool {
        switch (now, before) {
        case (.value(.null), .value): true
        case (.members(let members), .members(let all)): Set(members).isSubset(of: all)
        default: false
        }
    }

    /// The last state before a migration reads through the new model as the migration made it.
    private static func expectConversion(to shown: StateDump, _ store: Store, _ place: Comment) throws {
        let last = try store.newestInstallation().lastOfOld
        guard last >= (try store.baseline()?.event ?? .zero), last > .zero else { return }
        let converted = try StateDump(store, at: last)
        for (id, held) in shown.objects {
            for (property, value) in held {
                let past = converted[id, property]
                #expect(past == value, "\(place): \(property) of \(id) was \(String(describing: past))")
            }
        }
    }

    /// Each state reads through its own model as it did, and through the newest one without an error.
    private static func expectStates(
        _ states: [(event: EventNumber, dump: StateDump)], _ store: Store, _ place: Comment
    ) throws {
        let first = try store.baseline()?.event ?? .zero
        for (event, dump) in states where event >= first {
            do {
                let through = try store.schema(at: event)
                try #expect(StateDump(store, at: event, through: through) == dump, "\(place): \(event)")
                _ = try StateDump(store, at: event)
            } catch let error as StrataError where error.code == .historyDropped {
                let thinned = try store.thinnedEntities().values
                #expect(thinned.contains { event < $0.cut }, "\(place): \(event): \(error)")
            }
        }
    }

    /// Migrates copies of the store as a kill before each commit of the migration would leave it.
    private func migrateCopies(_ model: ManagedObjectModel, _ options: StoreOptions) throws -> [StateDump] {
        let copies = Mutex<[URL]>([])
        let failure = Mutex<(any Error)?>(nil)
        let folder = url
        let other = MigratedStore()
        defer {
            other.remove()
            for copy in copies.withLock({ $0 }) { MigratedStore(copy).remove() }
        }
        try FileManager.default.copyItem(at: folder, to: other.url)
        var watched = options
        watched.migration.progress = { [from = other.url] progress in
            guard progress.phase == "migrating" else { return }
            let copy = MigratedStore()
            do {
                try FileManager.default.copyItem(at: from, to: copy.url)
                copies.withLock { $0.append(copy.url) }
            } catch { failure.withLock { $0 = error } }
        }
        try other.open(model, watched) { _ in }
        if let error = failure.withLock({ $0 }) { throw error }
        return try copies.withLock { $0 }.map { copy in
            try MigratedStore(copy).open(model, options) { try StateDump($0.store, at: $0.store.head()) }
        }
    }
}
