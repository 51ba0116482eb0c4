import StrataModel

/// The functions of SQLite that a file may not call.
///
/// Expressions in the statements that make its tables and indexes run for each row when the file is checked and read:
/// rules (`CHECK`), generated columns, and indexes over expressions or with a condition. Most of SQLite's functions take a
/// time that grows with the length of the values. These make long values of short ones, or compare every byte of one
/// value with every byte of another, so that a small file could keep a reader busy for days. Core Data calls none of them.
enum RefusedFunctions {
    static let names = [
        "char", "concat", "concat_ws", "format", "hex", "instr", "ltrim", "printf", "quote", "randomblob", "replace",
        "rtrim", "trim", "unhex", "zeroblob",
    ]

    /// SQLite's own words where it finds one of the functions before it runs, as they may give any result.
    static let words = "non-deterministic functions prohibited"
    static let reason = "a rule, column or index calls a function that Core Data does not use"

    /// The longest pattern of `LIKE` and `GLOB`, which are compared with every place of a text.
    static let longestPattern: Int32 = 100

    /// Makes every statement fail that calls one of the functions.
    ///
    /// - Returns: false if SQLite does not allow it.
    static func install(in database: OpaquePointer, _ library: SQLiteLibrary) -> Bool {
        // SQLITE_LIMIT_LIKE_PATTERN_LENGTH
        _ = library.limit(database, 8, longestPattern)
        // Any number of arguments, and SQLITE_UTF8.
        return names.allSatisfy { library.createFunction(database, $0, -1, 1, nil, refuse, nil, nil) == 0 }
    }

    private static let refuse:
        @Sendable @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
            context, _, _ in
            // The library was loaded when the database was opened.
            guard case .success(let library) = SQLiteLibrary.shared else { return }
            library.resultError(context, RefusedFunctions.reason, -1)
        }
}
