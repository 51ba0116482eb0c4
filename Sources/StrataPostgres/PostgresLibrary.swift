import Foundation
import StrataModel

/// The system's libpq, loaded when it is first needed, so that programs without it build and start as before.
///
/// The names are libpq's without `PQ`; its manual describes them.
struct PostgresLibrary: Sendable {
    typealias Connection = OpaquePointer
    typealias Result = OpaquePointer
    typealias Text = UnsafePointer<CChar>

    let connectStartParams: @Sendable @convention(c) (UnsafePointer<Text?>, UnsafePointer<Text?>, Int32) -> Connection?
    let connectPoll: @Sendable @convention(c) (Connection) -> Int32
    let status: @Sendable @convention(c) (Connection) -> Int32
    let errorMessage: @Sendable @convention(c) (Connection) -> Text?
    let finish: @Sendable @convention(c) (Connection) -> Void
    let socket: @Sendable @convention(c) (Connection) -> Int32
    let setNonblocking: @Sendable @convention(c) (Connection, Int32) -> Int32
    let sendQueryParams:
        @Sendable @convention(c) (
            Connection, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<Text?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> Int32
    let sendPrepare: @Sendable @convention(c) (Connection, Text, Text, Int32, UnsafePointer<UInt32>?) -> Int32
    let sendQueryPrepared:
        @Sendable @convention(c) (
            Connection, Text, Int32, UnsafePointer<Text?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let flush: @Sendable @convention(c) (Connection) -> Int32
    let consumeInput: @Sendable @convention(c) (Connection) -> Int32
    let isBusy: @Sendable @convention(c) (Connection) -> Int32
    let getResult: @Sendable @convention(c) (Connection) -> Result?
    let notifies: @Sendable @convention(c) (Connection) -> UnsafeMutableRawPointer?
    let freemem: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    let resultStatus: @Sendable @convention(c) (Result) -> Int32
    let resultErrorField: @Sendable @convention(c) (Result, Int32) -> Text?
    let ntuples: @Sendable @convention(c) (Result) -> Int32
    let getvalue: @Sendable @convention(c) (Result, Int32, Int32) -> Text?
    let getlength: @Sendable @convention(c) (Result, Int32, Int32) -> Int32
    let getisnull: @Sendable @convention(c) (Result, Int32, Int32) -> Int32
    let clear: @Sendable @convention(c) (Result) -> Void

    /// `PGnotify`, as far as it is used.
    struct Notification {
        var channel: Text?
        var processID: Int32
        var payload: Text?
    }

    /// The file names on the supported systems. `STRATA_LIBPQ` names another file.
    static let usualNames = ["libpq.so.5", "libpq.so", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib"]

    static let shared: Swift.Result<PostgresLibrary, StrataError> = {
        let chosen = ProcessInfo.processInfo.environment["STRATA_LIBPQ"].map { [$0] }
        return Swift.Result { () throws(StrataError) in try PostgresLibrary(names: chosen ?? usualNames) }
    }()

    /// Loads the first library of these names that exists. It stays loaded.
    ///
    /// - Throws: `logUnavailable` with how to install it.
    init(names: [String]) throws(StrataError) {
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw StrataError(
                .logUnavailable,
                "libpq is not installed, which speaks with PostgreSQL: no \(names.joined(separator: ", ")) was found. "
                    + "Install it with 'apt-get install libpq5', 'dnf install libpq' or 'brew install libpq'.")
        }
        func function<Function>(_ name: String) throws(StrataError) -> Function {
            guard let symbol = dlsym(library, "PQ\(name)") else {
                throw StrataError(.logUnavailable, "The libpq of this system is too old: it has no PQ\(name).")
            }
            return unsafeBitCast(symbol, to: Function.self)
        }
        connectStartParams = try function("connectStartParams")
        connectPoll = try function("connectPoll")
        status = try function("status")
        errorMessage = try function("errorMessage")
        finish = try function("finish")
        socket = try function("socket")
        setNonblocking = try function("setnonblocking")
        sendQueryParams = try function("sendQueryParams")
        sendPrepare = try function("sendPrepare")
        sendQueryPrepared = try function("sendQueryPrepared")
        flush = try function("flush")
        consumeInput = try function("consumeInput")
        isBusy = try function("isBusy")
        getResult = try function("getResult")
        notifies = try function("notifies")
        freemem = try function("freemem")
        resultStatus = try function("resultStatus")
        resultErrorField = try function("resultErrorField")
        ntuples = try function("ntuples")
        getvalue = try function("getvalue")
        getlength = try function("getlength")
        getisnull = try function("getisnull")
        clear = try function("clear")
    }
}
