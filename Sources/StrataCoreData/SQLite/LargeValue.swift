import StrataModel
import StrataStore

/// A text or data of one row that is too long to be read at once, and is read in pieces.
final class LargeValue {
    let kind: SQLiteStatement.Kind
    /// The number of bytes.
    let count: Int
    /// The number of bytes of other large values that the new row has before this one.
    var countBefore = 0
    private let database: SQLiteDatabase
    private let handle: OpaquePointer
    private var whole: UnsafeMutableRawBufferPointer?

    /// - Parameters:
    ///   - row: the number of the row.
    ///   - kind: text or data.
    init(
        _ database: SQLiteDatabase, table: String, column: String, row: Int64, _ kind: SQLiteStatement.Kind
    ) throws(StrataError) {
        self.database = database
        self.kind = kind
        handle = try database.openValue(table: table, column: column, row: row)
        count = Int(database.library.blobByteCount(handle))
    }

    deinit {
        _ = database.library.blobClose(handle)
        whole?.deallocate()
    }

    /// Fills a buffer with the bytes from an offset on.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StrataError) {
        let code = database.library.blobRead(handle, buffer.baseAddress, Int32(buffer.count), Int32(offset))
        guard code == 0 else { throw database.error(code) }
    }

    /// Up to `count` bytes of the beginning.
    func beginning(_ count: Int) throws(StrataError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(count, self.count))
        var failure: StrataError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(StrataError) { try read(buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// The bytes from an offset on, in pieces.
    func pieces(from start: Int) -> BytesInPieces {
        BytesInPieces(count: max(0, count - start)) { buffer, offset in try self.read(buffer, at: start + offset) }
    }

    /// All bytes, in memory while this object lives. After a failure there are none, and the next step of a statement
    /// throws the error.
    var bytes: UnsafeRawBufferPointer {
        if let whole { return UnsafeRawBufferPointer(whole) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        whole = buffer
        do throws(StrataError) {
            try read(buffer, at: 0)
        } catch {
            database.failure = error
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(buffer)
    }
}
