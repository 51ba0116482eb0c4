import LMDB
import Logging
import StrataModel

// The journal of a store with `journaled` durability has each save since the last checkpoint as frames: a UInt32 length,
// little-endian, before each. Commits that are not saves are followed by a checkpoint.

extension Store {
    /// Makes the saves again that a power cut has taken from the file, and the journal has.
    ///
    /// A journal that does not continue the log, because the file was replaced, is kept aside.
    ///
    /// - Throws: `corrupt`; nothing was changed then.
    func replayJournal() throws {
        let isJournaled = file.options.durability == .journaled
        guard !isReadOnly else { return }
        let entries = file.environment.journalEntries
        do {
            if !entries.isEmpty { try onWriter { [self] in try replay(entries) } }
            if !isJournaled { try file.environment.removeJournal() }
            if isJournaled { try onWriter { [file] in try file.noteJournal() } }
        } catch {
            throw file.publicError(error, during: "replaying the journal")
        }
    }

    /// On the thread that writes.
    private func replay(_ entries: [[UInt8]]) throws {
        let head = try file.environment.read { try file.readHead($0) }
        let frames = try JournaledSaves.frames(of: entries, path: path).filter { $0.record.number > head.transaction }
        if let last = frames.last {
            do {
                try FrameReceiver(file, blobs).receive(frames) { _ in nil }
            } catch let error as StrataError where error.code == .divergedLog {
                let name = try file.environment.setJournalAside()
                return StoreLogger.shared.warning(
                    "the journal of \(path) does not continue its log, and was kept as \(name ?? "nothing"): \(error)")
            }
            StoreLogger.shared.notice(
                "\(CountText.of(frames.count, "save")) \(frames.count == 1 ? "was" : "were") made again from the journal of \(path), through \(last.record.number)"
            )
        }
        // Also where another process has made them again: the journal is written on from now on.
        try file.environment.settleJournal()
    }
}

extension StoreFile {
    /// Notes in the header that saves may lie in the journal only, where older versions do not look.
    fileprivate func noteJournal() throws {
        try write { transaction in
            guard let bytes = try Self.meta("header", tables, transaction) else { return }
            var header = try StoreHeader(bytes)
            guard !header.isJournaled else { return }
            header.isJournaled = true
            try header.encoded().withUnsafeBytes { value in
                try Self.withKey("header") { try transaction.put(tables.meta, $0, value) }
            }
        }
    }
}
