/// The source of a new store's model in a file of Core Data.
public enum CoreDataModelSource: Sendable, Hashable {
    /// The model in the file, or the tables if the file has none.
    case file
    /// The tables, for a file whose model cannot be read. They know names in capitals, types and keys, but no rules.
    case tables
}
