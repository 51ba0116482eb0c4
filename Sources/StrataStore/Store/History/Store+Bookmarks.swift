package import Foundation
import LMDB
package import StrataModel

/// Who does something to the store itself, and why.
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

    /// Gives a place in the log a name; a transaction of its own says so. A tag of that name moves.
    ///
    /// - Parameter sequence: the last event of a transaction.
    package func setTag(_ name: String, at eventNumber: EventNumber, _ note: MaintenanceNote) throws {
        try Bookmark.tag.check(name)
        let tables = core.tables
        try appendMaintenance(.tagged(name: name, eventNumber: eventNumber), note) { transaction in
            try Bookmark.tag.put(name, eventNumber.rawValue, transaction, tables)
        }
    }

    /// - Returns: whether there was such a tag.
    package func removeTag(_ name: String, _ note: MaintenanceNote) throws -> Bool {
        guard try tag(name) != nil else { return false }
        let tables = core.tables
        try appendMaintenance(.untagged(name: name), note) { transaction in
            _ = try Bookmark.tag.remove(name, transaction, tables)
        }
        return true
    }

    package func tag(_ name: String) throws -> EventNumber? {
        try checkOpen()
        return try core.read { transaction, _, _ in
            try Bookmark.tag.get(name, transaction, core.tables).map { EventNumber(rawValue: $0) }
        }
    }

    package func tags() throws -> [String: EventNumber] {
        try checkOpen()
        return try core.read { transaction, _, _ in
            try Bookmark.tag.all(transaction, core.tables).mapValues { EventNumber(rawValue: $0) }
        }
    }

    // MARK: Subscriptions

    /// How far a consumer has come; nil for one that has acknowledged nothing.
    package func acknowledged(by subscription: String) throws -> TransactionNumber? {
        try checkOpen()
        return try core.read { transaction, _, _ in
            try Bookmark.subscription.get(subscription, transaction, core.tables)
                .map { TransactionNumber(rawValue: $0) }
        }
    }

    package func subscriptions() throws -> [String: TransactionNumber] {
        try checkOpen()
        return try core.read { transaction, _, _ in
            try Bookmark.subscription.all(transaction, core.tables).mapValues { TransactionNumber(rawValue: $0) }
        }
    }

    /// Keeps how far a consumer has come, as durably as saves are; never goes back.
    package func acknowledge(_ transaction: TransactionNumber, by subscription: String) throws {
        try Bookmark.subscription.check(subscription)
        let tables = core.tables
        try writeState { write in
            let known = try Bookmark.subscription.get(subscription, write, tables)
            guard known.map({ $0 < transaction.rawValue }) ?? true else { return }
            try Bookmark.subscription.put(subscription, transaction.rawValue, write, tables)
        }
    }

    /// - Returns: whether there was such a subscription.
    package func removeSubscription(_ name: String) throws -> Bool {
        guard try acknowledged(by: name) != nil else { return false }
        let tables = core.tables
        try writeState { _ = try Bookmark.subscription.remove(name, $0, tables) }
        return true
    }

    // MARK: Writing

    private func writeState(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) throws {
        try checkWritable()
        do {
            try onWriter { [core] in
                try core.environment.write(timeout: core.options.writerLockTimeout) { try body($0) }
            }
        } catch {
            throw core.publicError(error, during: "noting a place in the log")
        }
    }

    /// Appends a transaction that says something of the store itself.
    ///
    /// - Parameter also: what else the same commit writes.
    func appendMaintenance(
        _ record: MaintenanceRecord, _ note: MaintenanceNote,
        also: @escaping @Sendable (WriteTransaction) throws -> Void = { _ in }
    ) throws {
        try checkWritable()
        do {
            try onWriter { [core] in
                try core.environment.write(timeout: core.options.writerLockTimeout) { transaction in
                    if try core.transaction(id: note.id, transaction) != nil { return }
                    var head = try core.readHead(transaction)
                    let histories = try core.histories(for: head, transaction)
                    var projector = Projector(tables: core.tables, histories: histories, tracking: .independent)
                    var events = EventList(
                        transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
                    events.append(.maintenance, ObjectID(rawValue: 0), previous: .zero, record.encoded())
                    let description = TransactionDescription(
                        id: note.id, author: note.author, metadata: note.metadata)
                    _ = try LogWriter.append(events, description, after: &head, core, transaction, &projector)
                    try also(transaction)
                }
            }
        } catch {
            throw core.publicError(error, during: "writing a note to the log")
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
