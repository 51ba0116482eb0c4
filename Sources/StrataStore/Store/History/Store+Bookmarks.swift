package import Foundation
import LMDB
package import StrataModel

/// The author of a change to the store itself, with metadata, as a maintenance transaction records them.
package struct MaintenanceNote: Sendable {
    package var id = UUID.ofTransaction()
    package var author: String?
    package var metadata: [String: String] = [:]

    package init(author: String?, metadata: [String: String] = [:]) {
        self.author = author
        self.metadata = metadata
    }
}

extension Store {
    // MARK: Tags

    /// Names an event number, and records that in a transaction of its own. An existing tag of that name moves.
    ///
    /// - Parameter eventNumber: the last event of a transaction.
    package func setTag(_ name: String, at eventNumber: EventNumber, _ note: MaintenanceNote) throws {
        try Bookmark.tag.check(name)
        let tables = file.tables
        try appendMaintenance(.tagged(name: name, eventNumber: eventNumber), note) { transaction in
            try Bookmark.tag.put(name, eventNumber.rawValue, transaction, tables)
        }
    }

    /// - Returns: whether there was such a tag.
    package func removeTag(_ name: String, _ note: MaintenanceNote) throws -> Bool {
        guard try tag(name) != nil else { return false }
        let tables = file.tables
        try appendMaintenance(.untagged(name: name), note) { transaction in
            _ = try Bookmark.tag.remove(name, transaction, tables)
        }
        return true
    }

    package func tag(_ name: String) throws -> EventNumber? {
        try checkOpen()
        return try file.read { transaction, _, _ in
            try Bookmark.tag.get(name, transaction, file.tables).map { EventNumber(rawValue: $0) }
        }
    }

    package func tags() throws -> [String: EventNumber] {
        try checkOpen()
        return try file.read { transaction, _, _ in
            try Bookmark.tag.all(transaction, file.tables).mapValues { EventNumber(rawValue: $0) }
        }
    }

    // MARK: Metadata

    /// The app's metadata of the store, without the entries that Strata keeps for itself.
    package func metadata() throws -> [String: AttributeValue] {
        try checkOpen()
        var entries = try file.read { transaction, _, _ in try StoreMetadata.read(transaction, file.tables) }
        entries[EncryptionRecord.metadataKey] = nil
        return entries
    }

    /// Changes the metadata, and records the changed entries in a transaction of its own; none if nothing changes.
    ///
    /// - Parameter change: of the entries as they are when the writer comes to it.
    package func changeMetadata(
        _ note: MaintenanceNote, _ change: @escaping @Sendable (inout [String: AttributeValue]) throws -> Void
    ) throws {
        let tables = file.tables
        try appendMaintenance(note) { transaction in
            let before = try StoreMetadata.read(transaction, tables)
            var after = before
            try change(&after)
            guard let record = StoreMetadata.difference(before, after) else { return nil }
            try StoreMetadata.write(after.filter { !$0.value.isNull }, transaction, tables)
            return record
        }
    }

    // MARK: Subscriptions

    /// The last transaction that a consumer has acknowledged; nil if there is none.
    package func acknowledged(by subscription: String) throws -> TransactionNumber? {
        try checkOpen()
        return try file.read { transaction, _, _ in
            try Bookmark.subscription.get(subscription, transaction, file.tables)
                .map { TransactionNumber(rawValue: $0) }
        }
    }

    /// Checks the name of a new subscription.
    ///
    /// - Throws: `keyTooLong` for a name of more than 400 bytes, `invalidRequest` for a text that is no name.
    package func checkName(ofSubscription name: String) throws { try Bookmark.subscription.check(name) }

    package func subscriptions() throws -> [String: TransactionNumber] {
        try checkOpen()
        return try file.read { transaction, _, _ in
            try Bookmark.subscription.all(transaction, file.tables).mapValues { TransactionNumber(rawValue: $0) }
        }
    }

    /// Records that a consumer has processed the log up to a transaction, as durably as a save; it never goes back.
    ///
    /// - Throws: for a new subscription what `checkName(ofSubscription:)` throws.
    package func acknowledge(_ transaction: TransactionNumber, by subscription: String) throws {
        if try acknowledged(by: subscription) == nil { try checkName(ofSubscription: subscription) }
        let tables = file.tables
        try writeState { write in
            let known = try Bookmark.subscription.get(subscription, write, tables)
            guard known.map({ $0 < transaction.rawValue }) ?? true else { return }
            try Bookmark.subscription.put(subscription, transaction.rawValue, write, tables)
        }
    }

    /// - Returns: whether there was such a subscription.
    package func removeSubscription(_ name: String) throws -> Bool {
        guard try acknowledged(by: name) != nil else { return false }
        let tables = file.tables
        try writeState { _ = try Bookmark.subscription.remove(name, $0, tables) }
        return true
    }

    // MARK: Writing

    private func writeState(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) throws {
        try checkWritable()
        do {
            try onWriter { [file] in
                try file.environment.write(timeout: file.options.writerLockTimeout) { try body($0) }
            }
        } catch {
            throw file.publicError(error, during: "recording a tag or subscription")
        }
    }

    /// Appends a maintenance transaction.
    ///
    /// - Parameter also: writes further records in the same commit.
    func appendMaintenance(
        _ record: MaintenanceRecord, _ note: MaintenanceNote,
        also: @escaping @Sendable (WriteTransaction) throws -> Void = { _ in }
    ) throws {
        try appendMaintenance(note) { transaction in
            try also(transaction)
            return record
        }
    }

    /// Appends a maintenance transaction.
    ///
    /// - Parameter makeRecord: makes the record, and writes further ones in the same commit; nil to append nothing.
    private func appendMaintenance(
        _ note: MaintenanceNote, _ makeRecord: @escaping @Sendable (WriteTransaction) throws -> MaintenanceRecord?
    ) throws {
        try checkWritable()
        do {
            try onWriter { [file] in
                try file.writeThroughGate { transaction in
                    if try file.transaction(id: note.id, transaction) != nil { return }
                    guard let record = try makeRecord(transaction) else { return }
                    let description = TransactionDescription(
                        id: note.id, author: note.author, metadata: note.metadata)
                    _ = try LogWriter.append(record, description, file, transaction)
                }
            }
        } catch {
            throw file.publicError(error, during: "writing a note to the log")
        }
        feed.notify()
    }

    private func checkWritable() throws {
        try checkOpen()
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
    }
}
