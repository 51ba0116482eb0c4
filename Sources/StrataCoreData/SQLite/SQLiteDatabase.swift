import Foundation
import StrataModel

/// A SQLite file that is open for reading.
///
/// Not for several threads at a time.
final class SQLiteDatabase {
    /// The ways to open a file.
    enum Access {
        /// As it is, without locks and without looking for a log of changes.
        case immutable
        /// As a private copy, whose log of changes SQLite takes in.
        case privateCopy
    }

    let library: SQLiteLibrary
    fileprivate let handle: OpaquePointer
    /// The file that the user named, for messages.
    let path: String
    private let budget = WorkBudget()
    private var temporaryTables: Set<String> = []
    /// An error that reading a value could not throw.
    var failure: StrataError?

    /// The most bytes of a value that a statement reads; see `LargeValue` for longer ones.
    static let mostBytesAtOnce = 16 << 20

    /// - Parameters:
    ///   - file: the file to open.
    ///   - path: the name of the file for people.
    init(_ file: String, _ access: Access, named path: String, _ library: SQLiteLibrary) throws(StrataError) {
        self.library = library
        self.path = path
        var opened: OpaquePointer?
        // SQLITE_OPEN_URI, and SQLITE_OPEN_READONLY or SQLITE_OPEN_READWRITE.
        let code: Int32
        switch access {
        case .immutable: code = library.open(Self.address(of: file), &opened, 0x40 | 0x1, nil)
        case .privateCopy: code = library.open(file, &opened, 0x2, nil)
        }
        guard code == 0, let opened else {
            let reason = opened.flatMap { library.message($0) }.map { String(cString: $0) } ?? "code \(code)"
            _ = library.close(opened)
            throw StrataError(.persistentStoreOpen, "The file cannot be opened: \(reason).", context: .init(path: path))
        }
        guard RefusedFunctions.install(in: opened, library) else {
            _ = library.close(opened)
            throw StrataError(
                .persistentStoreOpen, "The SQLite of this system does not let its functions be replaced.",
                context: .init(path: path))
        }
        handle = opened
        limitValues(to: Self.mostBytesAtOnce)
        library.progress(opened, 1000, WorkBudget.handler, Unmanaged.passUnretained(budget).toOpaque())
    }

    deinit { _ = library.close(handle) }

    /// The file's address for SQLite, in which some characters have a meaning of their own.
    private static func address(of file: String) -> String {
        let special = Array("%?#".utf8)
        let bytes = URL(filePath: file).absoluteURL.path.utf8.map { byte in
            byte < 0x80 && !special.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
        return "file:\(bytes.joined())?immutable=1"
    }

    /// Runs `body`; SQLite gives up after about a thousand times this number of its steps.
    func limited<R>(to thousands: Int, _ body: () throws(StrataError) -> R) throws(StrataError) -> R {
        budget.left = thousands
        defer { budget.left = nil }
        return try body()
    }

    private func limitValues(to count: Int) {
        // SQLITE_LIMIT_LENGTH
        _ = library.limit(handle, 0, Int32(clamping: count))
    }

    /// Runs `body`, in which statements may read longer values than otherwise.
    func reading<R>(valuesTo count: Int, _ body: () throws(StrataError) -> R) throws(StrataError) -> R {
        limitValues(to: count)
        defer { limitValues(to: Self.mostBytesAtOnce) }
        return try body()
    }

    /// Whether SQLite understands a statement.
    func accepts(_ text: String) -> Bool {
        var statement: OpaquePointer?
        defer { _ = library.finalize(statement) }
        return library.prepare(handle, text, -1, &statement, nil) == 0
    }

    /// Opens a value for `LargeValue`.
    func openValue(table: String, column: String, row: Int64) throws(StrataError) -> OpaquePointer {
        var value: OpaquePointer?
        let schema = isTemporary(table) ? "temp" : "main"
        let code = library.blobOpen(handle, schema, table, column, row, 0, &value)
        guard code == 0, let value else { throw error(code) }
        return value
    }

    func noteTemporary(_ table: String) { temporaryTables.insert(table) }
    func isTemporary(_ table: String) -> Bool { temporaryTables.contains(table) }

    func prepare(_ text: String) throws(StrataError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = library.prepare(handle, text, -1, &statement, nil)
        guard code == 0, let statement else { throw error(code) }
        return SQLiteStatement(statement, self)
    }

    /// Runs a statement and drops its rows.
    func run(_ text: String) throws(StrataError) {
        let statement = try prepare(text)
        while try statement.step() {}
    }

    /// The number in the first column of the first row; nil if there is no row, or nil in it.
    func number(_ text: String) throws(StrataError) -> Int64? {
        let statement = try prepare(text)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.integer(0)
    }

    func error(_ code: Int32) -> StrataError {
        let reason = library.message(handle).map { String(cString: $0) } ?? "code \(code)"
        // SQLITE_INTERRUPT, SQLITE_CORRUPT, SQLITE_TOOBIG, SQLITE_NOTADB
        let sentence =
            switch code & 0xFF {
            case 9: "The file takes too long to read: it is not what Core Data writes."
            case 11 where reason.contains(RefusedFunctions.words):
                "The file cannot be read: \(RefusedFunctions.reason) (\(reason))."
            case 11: "The file is damaged: \(reason)."
            case 18: "The file has a value that is longer than Core Data's are there: \(reason)."
            case 26: "The file is no database of SQLite, or is encrypted: \(reason)."
            default: "The file cannot be read: \(reason)."
            }
        return StrataError(.persistentStoreOpen, sentence, context: .init(path: path))
    }

    /// A name in SQL.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}

/// Counts the steps of SQLite while they are limited.
private final class WorkBudget {
    /// In thousands; nil for no limit.
    var left: Int?

    static let handler: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
        guard let context else { return 0 }
        let budget = Unmanaged<WorkBudget>.fromOpaque(context).takeUnretainedValue()
        guard let left = budget.left else { return 0 }
        budget.left = left - 1
        return left > 0 ? 0 : 1
    }
}

/// A statement and its current row.
final class SQLiteStatement {
    /// The type of a column's value in one row. Raw values are SQLite's.
    enum Kind: Int32 {
        case integer = 1
        case real = 2
        case text = 3
        case blob = 4
        case null = 5
    }

    private let statement: OpaquePointer
    private let database: SQLiteDatabase
    private let library: SQLiteLibrary
    /// The values of the row that are not in the statement, by column.
    var large: [Int: LargeValue] = [:]

    fileprivate init(_ statement: OpaquePointer, _ database: SQLiteDatabase) {
        self.statement = statement
        self.database = database
        library = database.library
    }

    deinit { _ = library.finalize(statement) }

    /// What a step has found.
    enum Step {
        case row, end
        /// A row with a value that is too long to be read at once.
        case largeRow
    }

    /// Goes to the next row.
    func advance() throws(StrataError) -> Step {
        if let failure = database.failure { throw failure }
        switch library.step(statement) {
        case 100: return .row
        case 101: return .end
        case 18: return .largeRow
        case let code: throw database.error(code)
        }
    }

    /// Goes to the next row.
    ///
    /// - Returns: false at the end.
    func step() throws(StrataError) -> Bool {
        switch try advance() {
        case .row: return true
        case .end: return false
        case .largeRow: throw database.error(18)
        }
    }

    /// Begins again with a parameter, counted from 1.
    func restart(_ values: Int64...) {
        _ = library.reset(statement)
        for (index, value) in values.enumerated() { _ = library.bindInteger(statement, Int32(index + 1), value) }
    }

    func kind(_ column: Int) -> Kind {
        if !large.isEmpty, let value = large[column] { return value.kind }
        return Kind(rawValue: library.columnType(statement, Int32(column))) ?? .null
    }
    func isNull(_ column: Int) -> Bool { kind(column) == .null }
    func integer(_ column: Int) -> Int64 { library.columnInteger(statement, Int32(column)) }
    func double(_ column: Int) -> Double { library.columnDouble(statement, Int32(column)) }

    /// A whole number that is not made of a text; nil for anything else.
    func key(_ column: Int) -> Int64? {
        switch kind(column) {
        case .integer: integer(column)
        case .real: Int64(exactly: double(column))
        case .text, .blob, .null: nil
        }
    }

    /// The number of bytes of a text or blob.
    func byteCount(_ column: Int) -> Int {
        if !large.isEmpty, let value = large[column] { return value.count }
        return Int(library.columnByteCount(statement, Int32(column)))
    }

    /// The bytes of a text or blob, valid until the next step.
    func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        if !large.isEmpty, let value = large[column] { return value.bytes }
        let isText = kind(column) == .text
        let start: UnsafeRawPointer? =
            isText
            ? library.columnText(statement, Int32(column)).map { UnsafeRawPointer($0) }
            : library.columnBlob(statement, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(library.columnByteCount(statement, Int32(column))))
    }

    /// The value as text; malformed bytes are replaced.
    func text(_ column: Int) -> String {
        switch kind(column) {
        case .null: ""
        case .integer: String(integer(column))
        case .real: "\(double(column))"
        case .text, .blob: String(decoding: bytes(column), as: UTF8.self)
        }
    }
}
