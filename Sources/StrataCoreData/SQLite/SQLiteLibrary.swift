import Foundation
import StrataModel

/// The system's SQLite, loaded when it is first needed, so that programs without it start and build as before.
struct SQLiteLibrary: Sendable {
    typealias Handle = OpaquePointer

    let open:
        @Sendable @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, Int32, UnsafePointer<CChar>?
        ) -> Int32
    let close: @Sendable @convention(c) (Handle?) -> Int32
    let message: @Sendable @convention(c) (Handle?) -> UnsafePointer<CChar>?
    let progress:
        @Sendable @convention(c) (
            Handle?, Int32, (@convention(c) (UnsafeMutableRawPointer?) -> Int32)?, UnsafeMutableRawPointer?
        ) -> Void
    let limit: @Sendable @convention(c) (Handle?, Int32, Int32) -> Int32
    let createFunction:
        @Sendable @convention(c) (
            Handle?, UnsafePointer<CChar>, Int32, Int32, UnsafeMutableRawPointer?,
            (@convention(c) (Handle?, Int32, UnsafeMutablePointer<Handle?>?) -> Void)?, OpaquePointer?, OpaquePointer?
        ) -> Int32
    let resultError: @Sendable @convention(c) (Handle?, UnsafePointer<CChar>?, Int32) -> Void
    let prepare:
        @Sendable @convention(c) (
            Handle?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>,
            UnsafeMutablePointer<UnsafePointer<CChar>?>?
        ) -> Int32
    let step: @Sendable @convention(c) (Handle?) -> Int32
    let reset: @Sendable @convention(c) (Handle?) -> Int32
    let finalize: @Sendable @convention(c) (Handle?) -> Int32
    let bindInteger: @Sendable @convention(c) (Handle?, Int32, Int64) -> Int32
    let bindDouble: @Sendable @convention(c) (Handle?, Int32, Double) -> Int32
    let bindNull: @Sendable @convention(c) (Handle?, Int32) -> Int32
    let bindText: @Sendable @convention(c) (Handle?, Int32, UnsafePointer<CChar>?, Int32, OpaquePointer?) -> Int32
    let bindBlob: @Sendable @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, OpaquePointer?) -> Int32
    let columnType: @Sendable @convention(c) (Handle?, Int32) -> Int32
    let columnInteger: @Sendable @convention(c) (Handle?, Int32) -> Int64
    let columnDouble: @Sendable @convention(c) (Handle?, Int32) -> Double
    let columnText: @Sendable @convention(c) (Handle?, Int32) -> UnsafePointer<UInt8>?
    let columnBlob: @Sendable @convention(c) (Handle?, Int32) -> UnsafeRawPointer?
    let columnByteCount: @Sendable @convention(c) (Handle?, Int32) -> Int32
    let blobOpen:
        @Sendable @convention(c) (
            Handle?, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, Int64, Int32,
            UnsafeMutablePointer<Handle?>
        ) -> Int32
    let blobClose: @Sendable @convention(c) (Handle?) -> Int32
    let blobByteCount: @Sendable @convention(c) (Handle?) -> Int32
    let blobRead: @Sendable @convention(c) (Handle?, UnsafeMutableRawPointer?, Int32, Int32) -> Int32

    /// The file names on the supported systems. `STRATA_SQLITE` names another file.
    static let usualNames = ["libsqlite3.so.0", "libsqlite3.so", "/usr/lib/libsqlite3.dylib", "libsqlite3.dylib"]

    static let shared: Result<SQLiteLibrary, StrataError> = {
        let chosen = ProcessInfo.processInfo.environment["STRATA_SQLITE"].map { [$0] }
        do throws(StrataError) {
            return .success(try SQLiteLibrary(names: chosen ?? usualNames))
        } catch {
            return .failure(error)
        }
    }()

    /// Loads the first library of these names that exists. It stays loaded.
    ///
    /// - Throws: `persistentStoreOpen` with how to install it.
    init(names: [String]) throws(StrataError) {
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw StrataError(
                .persistentStoreOpen,
                "SQLite is not installed, which reads the files of Core Data: no \(names.joined(separator: ", ")) was "
                    + "found. Install it with 'apt-get install libsqlite3-0', 'dnf install sqlite-libs' or 'apk add "
                    + "sqlite-libs'.")
        }
        func function<Function>(_ name: String) throws(StrataError) -> Function {
            guard let symbol = dlsym(library, "sqlite3_\(name)") else {
                throw StrataError(.persistentStoreOpen, "The SQLite of this system is too old: it has no \(name).")
            }
            return unsafeBitCast(symbol, to: Function.self)
        }
        open = try function("open_v2")
        close = try function("close_v2")
        message = try function("errmsg")
        progress = try function("progress_handler")
        limit = try function("limit")
        createFunction = try function("create_function")
        resultError = try function("result_error")
        prepare = try function("prepare_v2")
        step = try function("step")
        reset = try function("reset")
        finalize = try function("finalize")
        bindInteger = try function("bind_int64")
        bindDouble = try function("bind_double")
        bindNull = try function("bind_null")
        bindText = try function("bind_text")
        bindBlob = try function("bind_blob")
        columnType = try function("column_type")
        columnInteger = try function("column_int64")
        columnDouble = try function("column_double")
        columnText = try function("column_text")
        columnBlob = try function("column_blob")
        columnByteCount = try function("column_bytes")
        blobOpen = try function("blob_open")
        blobClose = try function("blob_close")
        blobByteCount = try function("blob_bytes")
        blobRead = try function("blob_read")
    }
}
