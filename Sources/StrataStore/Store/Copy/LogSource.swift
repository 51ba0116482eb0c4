import Foundation
import LMDB
import Logging
import StrataModel

/// The log of a damaged store: the store's file, or a log reassembled from its pages.
final class LogSource {
    let environment: Environment
    let tables: StoreTables
    /// The log as found on the pages; nil for the store's file.
    let carving: LogCarving?
    /// A temporary directory, removed in `deinit`.
    private let folder: String?

    private init(_ environment: Environment, _ carving: LogCarving? = nil, folder: String?) throws {
        self.environment = environment
        self.carving = carving
        self.folder = folder
        do {
            tables = try StoreTables(opening: environment)
        } catch {
            try environment.close()
            if let folder { Self.remove(folder) }
            throw error
        }
    }

    deinit { if let folder { Self.remove(folder) } }

    func close() throws { try environment.close() }

    /// The file itself, with its trees.
    ///
    /// - Throws: `LMDBError` and `StoreFormatError` if not even LMDB's own pages can be read, or the tables are not
    ///   found.
    static func file(of path: String) throws -> LogSource {
        var options = EnvironmentOptions()
        options.access = .readOnly
        // Each record of the log has a checksum of its own, and those on a damaged page are still wanted.
        options.sums = .ignored
        if !FileManager.default.fileExists(atPath: path + "/lock.mdb") { options.locking = .none }
        return try LogSource(try Environment.open(at: path, options: options), folder: nil)
    }

    /// The log reassembled from the file's pages, without its trees; nil if they hold none.
    static func carved(from path: String, _ scope: LogCarving.Scope = .log) throws -> LogSource? {
        var carving = try LogCarving(file: path + "/data.mdb", scope)
        guard !carving.isEmpty else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(component: "strata-carved-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let made = folder.path(percentEncoded: false)
        var options = EnvironmentOptions()
        options.access = .readOnly
        options.locking = .none
        let environment: Environment
        do {
            try carving.write(to: made)
            environment = try Environment.open(at: made, options: options)
        } catch {
            remove(made)
            throw error
        }
        return try LogSource(environment, carving, folder: made)
    }

    private static func remove(_ folder: String) {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            StoreLogger.shared.notice("a temporary directory stays: \(folder)")
        }
    }
}
