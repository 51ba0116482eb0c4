import Foundation
import StrataModel

/// A file of Core Data, opened without changing a byte of it or of the files beside it.
///
/// A file without a log of changes is read where it is. With one (`-wal`, `-journal`) the two are copied to a private
/// directory, where SQLite takes the log in; the copy is removed at the end.
final class SourceFile {
    let path: String
    let database: SQLiteDatabase
    /// The meaning of the files beside it, and the data that may be missing there.
    let notes: [String]
    /// The parts of the logs beside the file that cannot be read or taken back.
    let logFaults: [CoreDataFault]
    /// The private directory; nil if the file is read where it is.
    private let copy: URL?

    /// - Throws: `persistentStoreOpen` for a file that is missing, no database, encrypted, damaged, or in use.
    init(_ path: String, _ library: SQLiteLibrary) throws(StrataError) {
        self.path = path
        let hasLog = try Self.check(path)
        let journal = RollbackJournal(besideFileAt: path)
        let name = URL(filePath: path).lastPathComponent
        var notes = journal.note.map { ["\(name)-journal \($0)"] } ?? []
        if hasLog, !FileManager.default.fileExists(atPath: path + "-wal") {
            notes.append(
                "the file is in WAL mode, and no -wal file lies beside it: if one was left behind, what it has is missing"
            )
        }
        self.notes = notes
        logFaults = (hasLog ? Self.faults(ofLogBeside: path) : []) + Self.faults(of: journal, name)
        let logs = ["-wal", "-journal"].filter { Self.size(path + $0) > 0 }
        guard !logs.isEmpty else {
            copy = nil
            database = try SQLiteDatabase(path, .immutable, named: path, library)
            return
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-import-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for suffix in [""] + logs {
                try FileManager.default.copyItem(
                    at: URL(filePath: path + suffix), to: directory.appending(path: "store" + suffix))
            }
            let file = directory.appending(path: "store").path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw StrataError(
                .persistentStoreOpen, "The file and its log of changes cannot be copied to \(directory.path).",
                context: .init(path: path), cause: error)
        }
        copy = directory
        do throws(StrataError) {
            database = try SQLiteDatabase(
                directory.appending(path: "store").path, .privateCopy, named: path, library)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
    }

    deinit {
        if let copy { try? FileManager.default.removeItem(at: copy) }
    }

    private static func faults(ofLogBeside path: String) -> [CoreDataFault] {
        guard let loss = ChangeLog(besideFileAt: path).loss else { return [] }
        return [
            CoreDataFault(
                kind: .lostChanges, entityName: URL(filePath: path).lastPathComponent + "-wal", key: nil, property: nil,
                sentence: loss, outcome: "the changes before them come over")
        ]
    }

    private static func faults(of journal: RollbackJournal, _ name: String) -> [CoreDataFault] {
        guard let loss = journal.loss else { return [] }
        return [
            CoreDataFault(
                kind: .lostChanges, entityName: name + "-journal", key: nil, property: nil, sentence: loss,
                outcome: "what is not taken back comes over half changed")
        ]
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
    }

    /// What a file is that SQLite did not write, as the end of a sentence.
    private static func otherForm(_ file: Int32, sizeInBytes: Int) -> String {
        if sizeInBytes == 0 { return "is empty." }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = max(0, pread(file, &bytes, bytes.count, 0))
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        // The document of an XML store has this type, or at least this root.
        if text.contains("<?xml"), text.contains("CoreData.dtd") || text.contains("<database>") {
            return "is a store of Core Data in XML, and only its SQLite stores can be imported. On a Mac, "
                + "NSPersistentStoreCoordinator.migratePersistentStore(_:to:options:type:) makes a SQLite store of it."
        }
        return "is no database of SQLite: it is another file, such as a binary store of Core Data, or encrypted."
    }

    /// - Returns: whether the file is in WAL mode, in which its newest changes may be in another file.
    private static func check(_ path: String) throws(StrataError) -> Bool {
        func refusal(_ sentence: String) -> StrataError {
            StrataError(.persistentStoreOpen, sentence, context: .init(path: path))
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw refusal("There is no file at \(path).") }
        let sizeInBytes = Int(status.st_size)
        // Reading a pipe would wait for its writer.
        for other in ["", "-wal", "-shm", "-journal"].map({ path + $0 }) where stat(other, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { throw refusal("\(other) is no file.") }
        }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw refusal("\(path) may not be read.") }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: 100)
        guard read(file, &header, 100) == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw refusal("\(path) \(otherForm(file, sizeInBytes: sizeInBytes))")
        }
        guard !SchemaSize.isTooLarge(file, header: header) else {
            throw refusal("\(path) has more tables than Core Data writes.")
        }
        // SQLite's locks are on bytes from 2^30 on: one that waits, one for writing, and 510 for readers.
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        if fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) {
            throw refusal("\(path) is in use by the process \(lock.l_pid). Close the app, or import a copy.")
        }
        return header[18] == 2 || header[19] == 2
    }
}
