import Foundation
package import StrataModel

/// A new SQLite file that is being written.
///
/// Not for several threads at a time.
package final class SQLiteWriter {
    private let library: SQLiteLibrary
    private let path: String
    private var handle: OpaquePointer?

    /// Makes a file where there is none.
    package init(_ path: String) throws(StrataError) {
        library = try SQLiteLibrary.shared.get()
        self.path = path
        // SQLITE_OPEN_READWRITE and SQLITE_OPEN_CREATE.
        let code = library.open(path, &handle, 0x6, nil)
        guard code == 0, handle != nil else { throw error() }
    }

    deinit { _ = library.close(handle) }

    package func close() {
        _ = library.close(handle)
        handle = nil
    }

    package func run(_ text: String) throws(StrataError) {
        let statement = try prepare(text)
        try statement.run([])
    }

    func prepare(_ text: String) throws(StrataError) -> SQLiteInsertion {
        var statement: OpaquePointer?
        guard library.prepare(handle, text, -1, &statement, nil) == 0, let statement else { throw error() }
        return SQLiteInsertion(statement, self, library)
    }

    fileprivate func error() -> StrataError {
        let reason = library.message(handle).map { String(cString: $0) } ?? "SQLite gives no reason"
        return StrataError(
            .persistentStoreOpen, "The file cannot be written: \(reason).", context: .init(path: path))
    }
}

/// A value of a column that is written.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A statement that writes, with parameters.
final class SQLiteInsertion {
    private let statement: OpaquePointer
    private let writer: SQLiteWriter
    private let library: SQLiteLibrary

    fileprivate init(_ statement: OpaquePointer, _ writer: SQLiteWriter, _ library: SQLiteLibrary) {
        self.statement = statement
        self.writer = writer
        self.library = library
    }

    deinit { _ = library.finalize(statement) }

    /// SQLite copies text and bytes.
    private static var copied: OpaquePointer? { OpaquePointer(bitPattern: -1) }

    /// Runs the statement with the values of its parameters, in order.
    func run(_ values: [SQLiteValue]) throws(StrataError) {
        _ = library.reset(statement)
        for (index, value) in values.enumerated() {
            guard bind(Int32(index + 1), value) == 0 else { throw writer.error() }
        }
        while true {
            switch library.step(statement) {
            case 100: continue
            case 101: return
            default: throw writer.error()
            }
        }
    }

    private func bind(_ index: Int32, _ value: SQLiteValue) -> Int32 {
        switch value {
        case .null: return library.bindNull(statement, index)
        case .integer(let number): return library.bindInteger(statement, index, number)
        case .real(let number): return library.bindDouble(statement, index, number)
        case .text(let text):
            var text = text
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    // A null pointer would be nil, not an empty text.
                    guard let start = bytes.baseAddress else {
                        return library.bindText(statement, index, "", 0, Self.copied)
                    }
                    return library.bindText(statement, index, start, Int32(clamping: bytes.count), Self.copied)
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return library.bindBlob(statement, index, [UInt8(0)], 0, Self.copied) }
            return bytes.withUnsafeBytes { bytes in
                library.bindBlob(statement, index, bytes.baseAddress, Int32(clamping: bytes.count), Self.copied)
            }
        }
    }
}
