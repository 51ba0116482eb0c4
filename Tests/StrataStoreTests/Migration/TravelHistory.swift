import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// What becomes of the log of a store that goes through models, or how a migration comes to its end.
enum TravelHistory: CaseIterable {
    case whole
    /// Events lie in blocks, and index entries in buffers.
    case blocks
    /// Saves are synced in a journal.
    case journal
    /// Each migration takes a commit for each object, and is killed before each of them and finished by the next opening.
    case killed
    /// The replaced values of all entities are dropped under each model, before it is left and after the migration.
    case thinned
    /// The log is truncated under each model before it is left.
    case cutAtEnd
    /// After each migration, the log is truncated at the last state before it.
    case cutBefore
    /// A migration takes many commits. After it, the log is truncated at the one that installed the model.
    case cutAtInstallation
    /// The same, but at a commit that migrated objects.
    case cutInside

    /// Those that one case of a test goes through: the whole history and another one. All of them where `STRATA_SEEDS` is
    /// set.
    static func some(_ place: String) -> [TravelHistory] {
        if ProcessInfo.processInfo.environment["STRATA_SEEDS"] != nil { return allCases }
        let others = allCases.dropFirst()
        let number = place.utf8.reduce(0) { ($0 * 31 + Int($1)) % 1_000_003 }
        return [.whole, others[others.startIndex + number % others.count]]
    }

    /// Whether the log loses something that models in between hide.
    var isCut: Bool { [.cutAtEnd, .cutBefore, .cutAtInstallation, .cutInside].contains(self) }

    var options: StoreOptions {
        let hasManyCommits = [.killed, .cutAtInstallation, .cutInside].contains(self)
        var options = MigratedStore.options(oneCommit: hasManyCommits ? 0 : 200_000, step: 1)
        if self == .blocks {
            options.packing = .eager
            options.bufferLimits = .eager
        }
        if self == .journal {
            options.durability = .journaled
            options.checkpointInterval = .seconds(3600)
        }
        return options
    }

    /// Whether a cut under a model leaves all that the one before showed.
    var keepsModelBefore: Bool { self == .cutBefore || self == .cutAtInstallation }

    private static let note = MaintenanceNote(author: nil)

    /// Drops history before a model is left.
    ///
    /// - Parameter isFirst: whether no migration led to the model.
    func drop(_ store: Store, isFirst: Bool) throws {
        switch self {
        case .whole, .blocks, .journal, .killed: break
        case .thinned: try thin(store)
        case .cutAtEnd: try cut(store, store.head())
        case .cutBefore, .cutAtInstallation, .cutInside:
            if isFirst { return }
            let installation = try store.newestInstallation()
            let record = try #require(installation.record)
            if self == .cutBefore { return try cut(store, installation.lastOfOld) }
            if self == .cutAtInstallation { return try cut(store, record.lastEvent) }
            let steps = try store.transactions(limit: 1000).filter {
                $0.firstEvent > record.lastEvent && $0.contextName == "migration"
            }
            if !steps.isEmpty { try cut(store, steps.map(\.lastEvent).sorted()[steps.count / 2]) }
        }
    }

    private func cut(_ store: Store, _ event: EventNumber) throws {
        let report = try store.truncateHistory(through: event, Self.note, limits: TrimLimits(events: 3))
        #expect(report.baseline?.event == event)
    }

    private func thin(_ store: Store) throws {
        let names = store.schema.entities.map(\.name)
        let report = try store.thinHistory(of: names, through: store.head(), Self.note)
        #expect(report.holds.isEmpty)
    }
}
