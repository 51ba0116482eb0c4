public import Foundation
public import StrataGraph
import StrataModel
import StrataStore

extension PersistentContainer {
    /// Writes the newest state of the store as a SQLite file in the form of Core Data, with the model.
    ///
    /// ```swift
    /// let report = try container.exportCoreDataStore(to: URL(filePath: "Shop.sqlite"))
    /// print(report.rows, report.notes)
    /// ```
    ///
    /// A store that was made from such a file gives its objects the keys that they had there. The history stays behind.
    ///
    /// - Throws: `persistentStoreOpen` if SQLite is not installed, if there is something at `destination` or it cannot
    ///   be written; `invalidModel` for a model that such a file cannot hold; `encryptionKeyMissing` if the store was
    ///   opened without the key of an encrypted value. Such a file has the values of encrypted attributes in the clear.
    public func exportCoreDataStore(to destination: URL) throws -> CoreDataExportReport {
        try CoreDataExporter.run(store, to: destination)
    }
}
