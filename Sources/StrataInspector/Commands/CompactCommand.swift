import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata compact`: writes the store's file again without its free pages.
struct CompactCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Writes the store's file again without its free pages.",
        discussion: """
            The store is copied and the copy is verified. Only then does it replace the old file, which is kept beside \
            it until the new one has been opened and verified under its final name. No other process may have the \
            store open: otherwise nothing changes and the exit code is 1. The log is copied whole, so no history is \
            lost. Saves reuse free pages, so this is worth while only after many deletions.

            --json prints {"path", "before", "after", "freed"}, in bytes.

            Examples:
                strata compact BowTies.strata
                strata compact BowTies.strata --keep-old
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Keep the old file as data.mdb.before-compact.") var keepOld = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let path = store.path.droppingTrailingSlash
        let file = path + "/data.mdb"
        let before = try Self.size(store, file)
        guard access(file, W_OK) == 0 else { throw Self.failure("written", file) }
        try Self.sweepLeftovers(of: path)
        let copy = path + Self.mark + "\(getpid())"
        let url = URL(filePath: copy, directoryHint: .isDirectory)
        Interrupt.endAtOnce {
            Store.abandonCopies(to: url)
            Self.remove(copy)
            return "the store was left as it is."
        }
        defer { Self.remove(copy) }
        let stamp = try copied(file, to: copy)
        Interrupt.finish()
        let guardian = try StoreGuard(path)
        do {
            defer { guardian.release() }
            guard try Self.stamp(of: file) == stamp else {
                throw StrataError(
                    .persistentStoreTimeout, "Another process wrote to the store; nothing was changed. Try again.")
            }
            try exchange(file, with: copy + "/data.mdb")
            try exchangeSums(of: path, with: copy)
        }
        try settle(file)
        let after = try Self.size(store, file)
        if json {
            let freed = before > after ? before - after : 0
            return try JSONText.print(
                ["path": path, "before": before, "after": after, "freed": freed])
        }
        Output.shared.line(
            "\(path): \(ValueText.size(before)) before, \(ValueText.size(after)) now, verified")
    }

    /// - Returns: the first two pages of the file when the copy began.
    private func copied(_ file: String, to copy: String) throws -> Data {
        let progress = ProgressLine()
        defer { progress.finish() }
        return try store.reading { store in
            let stamp = try Self.stamp(of: file)
            _ = try store.backup(to: URL(filePath: copy, directoryHint: .isDirectory), progress: progress.handler)
            return stamp
        }
    }

    private static let kept = ".before-compact"

    private func exchange(_ file: String, with made: String) throws {
        var status = stat()
        guard stat(file, &status) == 0, chmod(made, status.st_mode & 0o777) == 0 else {
            throw Self.failure("exchanged", file)
        }
        guard
            link(file, file + Self.kept) == 0
                || errno == EEXIST && unlink(file + Self.kept) == 0
                    && link(file, file + Self.kept) == 0
        else { throw Self.failure("kept", file) }
        // The sums of the old file's pages are none of the new one's.
        try removeSums()
        guard rename(made, file) == 0 else { throw Self.failure("exchanged", file) }
        let directory = open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.failure("synced", file) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.failure("synced", file) }
    }

    private static let sums = "/pages.sums"

    private func exchangeSums(of path: String, with copy: String) throws {
        let made = copy + Self.sums
        // Without them the next writer makes new ones.
        guard access(made, F_OK) == 0 else { return }
        guard rename(made, path + Self.sums) == 0 else { throw Self.failure("exchanged", path + Self.sums) }
    }

    private func removeSums() throws {
        let path = store.path.droppingTrailingSlash + Self.sums
        guard unlink(path) == 0 || errno == ENOENT else { throw Self.failure("removed", path) }
    }

    /// Verifies the new file under its final name, and puts the old one back if it is not sound.
    private func settle(_ file: String) throws {
        do {
            let report = try store.reading { try $0.verify(.quick) }
            guard report.isSound else {
                throw StrataError(.corrupt, "The new file is damaged; the old one was put back.")
            }
        } catch {
            try removeSums()
            guard rename(file + Self.kept, file) == 0 else { throw Self.failure("put back", file) }
            throw error
        }
        if !keepOld, unlink(file + Self.kept) != 0 { throw Self.failure("removed", file + Self.kept) }
    }

    // MARK: Files

    /// The first two pages, which say which commit is the newest.
    private static func stamp(of file: String) throws -> Data {
        guard let handle = FileHandle(forReadingAtPath: file) else { throw failure("read", file) }
        defer { handle.closeFile() }
        return try handle.read(upToCount: 2 * Int(getpagesize())) ?? Data()
    }

    private static func size(_ store: StoreArguments, _ file: String) throws -> UInt64 {
        try store.checkIsThere()
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return (attributes[.size] as? NSNumber)?.uint64Value ?? 0
    }

    private static func failure(_ word: String, _ file: String) -> StrataError {
        StrataError(
            .persistentStoreOperation, "\(file) cannot be \(word): \(String(cString: strerror(errno))).")
    }

    private static let mark = ".compacting-"

    /// Removes copies that killed processes left.
    private static func sweepLeftovers(of path: String) throws {
        let url = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
        let prefix = url.lastPathComponent + mark
        let parent = url.deletingLastPathComponent().path(percentEncoded: false)
        for name in try FileManager.default.contentsOfDirectory(atPath: parent) {
            let visible = name.hasPrefix(".") ? name.dropFirst() : name[...]
            guard visible.hasPrefix(prefix) else { continue }
            let digits = visible.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let process = Int32(digits), process > 0, kill(process, 0) != 0, errno == ESRCH else { continue }
            remove(parent + "/" + name)
        }
    }

    private static func remove(_ path: String) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Output.printError("strata: \(path) could not be removed: \(error.systemReason)")
        }
    }
}
