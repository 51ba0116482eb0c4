import Foundation

/// A file in a restored store that has not replaced another one yet. It has the first two pages of the store's file, so
/// that the mark no longer holds for a store with later saves.
enum RestoreMark {
    private static func path(_ store: String) -> String { store + "/unfinished-restore" }

    private static func firstPages(_ store: String) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(filePath: store + "/data.mdb"))
        defer { file.closeFile() }
        return try file.read(upToCount: 2 * Int(getpagesize())) ?? Data()
    }

    /// It is durable when this returns.
    static func put(in store: String) throws {
        let pages = try firstPages(store)
        try BlobFile.create(path(store)) { write in try write(pages) }
        try BlobFile.syncDirectory(store)
    }

    /// A store whose files cannot be read has none.
    static func isIn(_ store: String) -> Bool {
        guard let mark = FileManager.default.contents(atPath: path(store)), !mark.isEmpty else { return false }
        do { return try mark == firstPages(store) } catch { return false }
    }

    /// Without it nothing takes the store for one that may be removed. That is durable when this returns.
    static func remove(from store: String) throws {
        guard unlink(path(store)) == 0 else {
            if errno == ENOENT { return }
            throw BlobFile.Failure(operation: "remove", path: path(store), number: errno)
        }
        try BlobFile.syncDirectory(store)
    }
}
