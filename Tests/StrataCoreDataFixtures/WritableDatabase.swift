package import StrataCoreData

/// A database of SQLite for writing, made if there is none.
package typealias WritableDatabase = SQLiteWriter
