public import Foundation
public import StrataModel
import StrataStore

// Metadata that an app keeps about the store as a whole, such as the state of its last synchronization.

extension PersistentContainer {
    /// Values that the app keeps with the store as a whole, by name; they belong to no object and to no model.
    ///
    /// ```swift
    /// try container.setMetadata(.string("2026-11"), forKey: "catalogue")
    /// let catalogue = try container.metadata["catalogue"]
    /// ```
    ///
    /// The log records who changed what and when, as for tags. Contexts of the past do not change what is shown here.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public var metadata: [String: AttributeValue] { get throws { try binding.store.metadata() } }

    /// Sets one entry of the store's metadata; nil removes it.
    ///
    /// - Throws: `readOnly`; `wrongType` for a value that has no meaning in other stores (a `blob`); `saveTooLarge`, if all
    ///   entries together take more than 1 MiB.
    public func setMetadata(_ value: AttributeValue?, forKey key: String, author: String? = nil) throws {
        try Self.check([key: value ?? .null])
        try binding.store.changeMetadata(MaintenanceNote(author: author)) { $0[key] = value }
    }

    /// Makes the store's metadata exactly these entries, in one transaction; entries that are not named are removed.
    ///
    /// - Throws: as `setMetadata(_:forKey:author:)`.
    public func setMetadata(_ entries: [String: AttributeValue], author: String? = nil) throws {
        try Self.check(entries)
        try binding.store.changeMetadata(MaintenanceNote(author: author)) { stored in
            stored = entries.merging(stored.filter(\.key.isStratas)) { $1 }
        }
    }

    /// The metadata of a store that need not be open; it is opened for reading, without a model.
    ///
    /// - Throws: `persistentStoreOpen`, `corrupt`.
    public static func metadata(ofStoreAt url: URL) throws -> [String: AttributeValue] {
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(url), model: nil, options: options)
        defer { store.close() }
        return try store.metadata()
    }

    private static func check(_ entries: [String: AttributeValue]) throws {
        for (key, value) in entries {
            if key.isStratas {
                throw StrataError(
                    .invalidRequest, "Metadata whose names begin with strata.encryption are Strata's own.",
                    context: .init(key: key))
            }
            if case .blob = value {
                throw StrataError(.wrongType, "Metadata cannot hold a large value.", context: .init(key: key))
            }
        }
    }
}

extension String {
    /// Whether the key is one of those that Strata keeps for itself.
    fileprivate var isStratas: Bool { hasPrefix("strata.encryption") }
}
