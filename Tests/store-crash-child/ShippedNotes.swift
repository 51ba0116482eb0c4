import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataShipping
import StrataStore

extension Work {
    var target: DirectoryTarget {
        DirectoryTarget(directory.deletingLastPathComponent().appending(path: "target", directoryHint: .isDirectory))
    }
    var standby: URL { directory.deletingLastPathComponent().appending(path: "standby", directoryHint: .isDirectory) }

    /// Saves notes and ships them, erases some, and has a standby follow. Says "1 number" of saves, "0 number" of notes that
    /// were erased, "2 transaction" of the last one that the target has, and "3 number" of the last note whose erasure it has.
    func ship(keepingSnapshots kept: Int? = nil, follows: Bool = false) throws {
        let (store, notes) = try openNotes()
        var number = try notes.notes().keys.max() ?? 0
        var erased = 0
        for count in 1...rounds {
            for _ in 0..<2 {
                number += 1
                try notes.save(number)
                say(1, number)
            }
            if count % 2 == 0, let last = try notes.erase() {
                erased = last
                say(0, erased)
            }
            let report = try ship(store, ShippingOptions(keptSnapshots: kept), count)
            say(2, Int(report.transaction.rawValue))
            say(3, erased)
            guard follows else { continue }
            let standby = try Standby(target, at: self.standby)
            _ = try standby.catchUp()
            standby.close()
        }
        store.close()
    }

    /// A sync fails now and then, and another process ships again.
    private func ship(_ store: Store, _ options: ShippingOptions, _ count: Int) throws -> ShippingReport {
        fault_arm(Int32(FAULT_SYNC), count, 1, EIO, Int32(FAULT_REFUSE))
        let first = Result {
            try LogShipper(store, target, options).ship(makesSnapshot: count % 3 == 1)
        }
        let hits = fault_disarm()
        switch first {
        case .success(let report): return report
        case .failure where hits > 0: return try LogShipper(store, target, options).ship()
        case .failure(let error): throw error
        }
    }
}

extension ImageCheck {
    /// Erased notes are gone from every byte of the store, all others are there.
    func checkErased() throws {
        let (store, notes) = try recorded.openNotes()
        defer { store.close() }
        _ = try checkNotes(store, notes, erasedThrough: said[0] ?? 0)
    }

    /// Every note is there, and what is left of a thinning can be done.
    func checkThinned() throws {
        let (store, notes) = try recorded.openNotes()
        defer { store.close() }
        try expect(try checkNotes(store, notes, erasedThrough: 0).isEmpty, "notes are gone")
        guard let cut = try store.thinnedEntities().values.map(\.cut).max(), cut > .zero else { return }
        _ = try store.thinHistory(of: ["Note"], through: cut, MaintenanceNote(author: "check"))
        let report = try store.verify(.full)
        try expect(report.isSound && !report.hasUnfinishedThinning, "a thinning cannot be finished")
    }

    /// - Parameter last: the last note that was said to be erased.
    /// - Returns: the notes that were erased.
    private func checkNotes(_ store: Store, _ notes: Erasing, erasedThrough last: Int) throws -> Set<Int> {
        let saved = try saves(store)[1] ?? []
        let acknowledged = max(said[1] ?? 0, said[Recording.before + 1] ?? 0)
        try expect(
            saved == Array(1..<saved.count + 1) && (acknowledged...acknowledged + 1).contains(saved.count),
            "saves \(saved), \(acknowledged) were acknowledged")
        let gone = try Set(saved).subtracting(notes.notes().keys)
        // Even numbers are erased one after the other. One more may have been.
        let erased = Set(stride(from: 2, through: last, by: 2))
        try expect(
            gone == erased || gone == erased.union([last + 2]),
            "gone are \(gone.sorted()), said to be erased \(erased.sorted())")
        try expectNone(of: gone, in: recorded.directory)
        try verify(store, "found")
        try expect(try store.rebuild().isUnchanged, "a rebuild changes views")
        let left = try Set(saved).subtracting(notes.notes().keys)
        try expect(left == gone, "erased notes came back")
        return gone
    }

    /// No byte of these notes is in any file of a directory.
    private func expectNone(of notes: Set<Int>, in directory: URL) throws {
        guard FileManager.default.fileExists(atPath: directory.path) else { return }
        for (name, bytes) in try Image.files(of: directory) {
            guard let bytes else { continue }
            let data = Data(bytes)
            for number in notes where data.range(of: Data(Erasing.mark(number).utf8)) != nil {
                throw Finding(description: "the erased note \(number) is in \(directory.lastPathComponent)/\(name)")
            }
        }
    }

    /// The target restores to what it was said to have, without what it was said to have erased; shipping and standbys go
    /// on, and take what was erased meanwhile out of the target.
    func checkShipped() throws {
        let (store, notes) = try recorded.openNotes()
        defer { store.close() }
        let gone = try checkNotes(store, notes, erasedThrough: said[0] ?? 0)
        try expectNone(of: Set(stride(from: 2, through: said[3] ?? 0, by: 2)), in: recorded.target.url)
        if let shipped = said[2] {
            let position = try restored(.now, "restored", store)
            try expect(
                position.transaction.rawValue >= shipped,
                "restored \(position.transaction), shipped was \(shipped)")
            _ = try restored(.transaction(position.transaction), "again", store)
        }
        try notes.save(try notes.notes().keys.max().map { $0 + 1 } ?? 1)
        _ = try LogShipper(store, recorded.target).ship()
        let end = try store.logPosition()
        try expect(try restored(.now, "after", store) == end, "what was shipped afterwards is not restored")
        let standby = try Standby(recorded.target, at: recorded.standby)
        defer { standby.close() }
        try expect(try standby.catchUp().position.digest == end.digest, "a standby that does not follow")
        try verify(try standby.store(), "standby")
        try expectNone(of: gone, in: root)
    }

    /// Restores the target to a place, and compares it with the store.
    private func restored(_ moment: HistoryMoment, _ name: String, _ store: Store) throws -> LogPosition {
        let place = root.appending(path: name, directoryHint: .isDirectory)
        let position = try TargetRestore(recorded.target).run(to: place, moment).position
        try expect(
            try store.transaction(position.transaction)?.digest == position.digest,
            "restored is another log than the store's")
        try FileManager.default.removeItem(at: place)
        return position
    }
}
