public import Foundation
public import StrataGraph
public import StrataModel
import StrataStore

/// Options for importing a store of Core Data.
public struct CoreDataImportOptions: Sendable {
    /// A model that takes the place of the one in the file: an `.xcdatamodeld` or `.xcdatamodel`.
    public var model: URL?
    /// The version of that model; nil for the current one.
    public var modelVersion: String?
    /// The source of the model if none is given.
    public var modelSource = CoreDataModelSource.file
    /// The treatment of faults in the data.
    public var onFault = CoreDataFaultTreatment.repair
    /// The form of transformables.
    public var transformables = CoreDataTransformables.bytes

    /// The model in the file; faults are repaired, and transformables keep their bytes.
    public init() {}
}

extension PersistentContainer {
    /// Makes a store of a SQLite file of Core Data or SwiftData, with its model and objects.
    ///
    /// ```swift
    /// let report = try PersistentContainer.importCoreDataStore(
    ///     at: URL(filePath: "Shop.sqlite"), to: URL(filePath: "Shop.strata"))
    /// print(report.rows, report.faults, report.notes)
    /// ```
    ///
    /// The file is only read. The store appears when it is complete. An import that was interrupted goes on where it
    /// was when it is repeated.
    ///
    /// - Throws: `persistentStoreOpen` if SQLite is not installed, if the file is in use, encrypted, damaged or not of
    ///   Core Data, or if there is something at `destination`; `managedObjectValidation` for faults that are refused.
    public static func importCoreDataStore(
        at file: URL, to destination: URL, options: CoreDataImportOptions = CoreDataImportOptions()
    ) throws -> CoreDataImportReport {
        try CoreDataImporter(file.path(percentEncoded: false), options: options).run(into: destination)
    }

    /// The object that an object of Core Data has become, by its old URI: `x-coredata://STORE/Entity/p12`.
    ///
    /// - Returns: nil if the URI is of another store or its object did not exist.
    public func objectID(forCoreDataURI uri: URL) throws -> ObjectID? {
        let parts = uri.path.split(separator: "/")
        guard uri.scheme == "x-coredata", parts.count == 2, parts[1].first == "p",
            let key = Int64(parts[1].dropFirst()),
            let record = try ImportRecord(metadata), uri.host?.uppercased() == record.identifier.uppercased()
        else { return nil }
        let hierarchy = managedObjectModel.hierarchy
        // Names of properties have a dot.
        let name = record.formerNames.first { $0.value == parts[0] && !$0.key.contains(".") }?.key ?? String(parts[0])
        guard let root = hierarchy.chain(of: name).first, let offset = record.offsets[root.name] else {
            return nil
        }
        let (row, overflows) = key.addingReportingOverflow(offset)
        guard !overflows, row > 0, row <= Int64(ObjectID.maximumRow) else { return nil }
        let names = [name] + ([root] + hierarchy.subentities(of: root.name)).map(\.name)
        let store = self.store
        return try store.read(at: try store.head()) { snapshot in
            for name in names {
                guard let entity = snapshot.schema.entity(named: name) else { continue }
                let id = ObjectID(entity: entity.id, row: UInt64(row))
                if try snapshot.exists(id) { return id }
            }
            return nil
        }
    }
}
