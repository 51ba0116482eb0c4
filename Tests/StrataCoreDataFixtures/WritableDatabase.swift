import Foundation
package import StrataCoreData

/// A database of SQLite for writing, made if there is none.
package typealias WritableDatabase = SQLiteWriter

/// SQLite on the machine of the tests.
package enum InstalledSQLite {
    /// Whether tests that need it run: where it can be loaded, and in CI, which must have it.
    package static let isExpected =
        ProcessInfo.processInfo.environment["CI"] != nil || (try? SQLiteWriter(":memory:")) != nil
}
