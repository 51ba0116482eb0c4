public import Foundation
public import StrataModel
package import StrataStore

// Removing objects, or values of theirs, from the present and from all of the past.

/// One erasure: which objects or values were removed from a store and its history, by whom and why.
///
/// It holds no values. Keep a list of them beside backups, and apply it to a restored copy before anyone reads it:
/// ``PersistentContainer/apply(_:)``.
public struct Erasure: Sendable, Hashable, Codable {
    /// The number of the event that records the erasure.
    public let eventNumber: EventNumber
    /// The id of its transaction, by which a store knows that it has made the erasure.
    public let transactionID: UUID
    /// When the values were erased.
    public let date: Date
    /// The author of the erasure.
    public let author: String?
    /// The reason for the erasure.
    public let reason: String?
    /// The objects, by id.
    public let objectIDs: [ObjectID]
    /// The names of the attributes whose values were erased; empty if whole objects were.
    public let attributes: [String]
    /// The numbers that the attributes have had in the models of the store.
    let properties: [UInt32]
    /// The number of events that lost values.
    public let eventCount: Int
    /// The id of the store. Only its copies accept the erasure.
    public let storeIdentifier: UUID?
}

/// The result of an erasure.
public struct ErasureResult: Sendable, Hashable {
    /// The objects that the store knew.
    public let objectIDs: [ObjectID]
    /// The number of deleted objects: those that existed, and those that the delete rules took with them.
    public let deletedCount: Int
    /// The number of events that lost values.
    public let eventCount: Int
    /// The number of destroyed keys of subjects, so that copies of the store elsewhere have lost the values, too.
    public let destroyedKeyCount: Int
    /// The number of given subjects that had no key. If values were ever written for them, these are not the keys that
    /// the store was written with.
    public let missingKeyCount: Int
    /// The work that is left for later, in words: pages or files that others still read.
    /// ``PersistentContainer/finishErasures()`` does it, or the next opening of the store.
    public let waiting: [String]
    /// The time that it took.
    public let duration: Duration

    /// Whether no byte of the store's files holds the values.
    public var isComplete: Bool { waiting.isEmpty }
}

extension PersistentContainer {
    /// Removes objects from the store and from all of its history.
    ///
    /// ```swift
    /// try container.erase([person], reason: "asked for it on 2026-11-20")
    /// ```
    ///
    /// The objects are deleted by the delete rules of the model. Their events stay in the log without values, so the
    /// chain of digests still verifies, and contexts of the past show the objects with no values. Every byte of the
    /// store's files that held a value is overwritten before the call returns. Contexts that have the objects in memory
    /// keep what they have read until they are refreshed.
    ///
    /// Where attributes are encrypted under the keys of subjects, the keys of the objects are destroyed as soon as the
    /// erasure is in the log. Values under them cannot be read any more in any copy of the store, and also not in objects
    /// that stay.
    ///
    /// - Returns: the counts of erased objects and values, and the work that has to wait for others.
    /// - Throws: `readOnly`; `encryptionKeyMissing` if keys of subjects are to be destroyed and were not given;
    ///   `validationRelationshipDeniedDelete`, or another error of the objects that remain; `saveTooLarge` for too many
    ///   objects at once; `persistentStoreTimeout` while another erasure runs. Then nothing was erased. After `noSpace`,
    ///   and `logUnavailable` with a shared log, nothing was erased or a part: `finishErasures()`, or the next opening,
    ///   does the rest.
    /// - Complexity: O(n) in the events of the objects, and a read of the whole file.
    @discardableResult
    public func erase(
        _ objects: [ManagedObject], reason: String?, author: String? = nil
    ) throws -> ErasureResult {
        try erase(objects.map(\.objectID), reason: reason, author: author)
    }

    /// Removes objects, or only some of their values, from the store and from all of its history.
    ///
    /// An attribute whose value is erased is nil from the first event of the object on, or has the default of an
    /// attribute that must have a value. Objects that are deleted already can be erased, too.
    ///
    /// - Parameter attributes: the names of the attributes whose values are erased; nil erases whole objects.
    /// - Throws: as `erase(_:reason:author:)`; `unknownKey`; `validationMissingMandatoryProperty` for an attribute that
    ///   must have a value and has no default.
    @discardableResult
    public func erase(
        _ ids: [ObjectID], attributes: [String]? = nil, reason: String?, author: String? = nil
    ) throws -> ErasureResult {
        let metadata = reason.map { [HistoryTransaction.reasonKey: $0] } ?? [:]
        let note = MaintenanceNote(author: author, metadata: metadata)
        let request = ErasureRequest(objects: ids, attributes: attributes, note: note)
        return ErasureResult(try binding.store.erase(request))
    }

    /// Removes the objects that match a request, or only some of their values, from the store and from all of its
    /// history.
    ///
    /// - Throws: as `erase(_:attributes:reason:author:)`, and as a fetch.
    @discardableResult
    public func erase<Result: ManagedObject>(
        _ request: FetchRequest<Result>, attributes: [String]? = nil, reason: String?, author: String? = nil
    ) throws -> ErasureResult {
        let ids = try newBackgroundContext().fetchObjectIDs(request)
        return try erase(ids, attributes: attributes, reason: reason, author: author)
    }

    /// Does the work that an erasure had to leave for later, because others still read pages or files.
    ///
    /// - Returns: nil if nothing was left.
    /// - Throws: `readOnly`, `corrupt`.
    @discardableResult
    public func finishErasures() throws -> ErasureResult? {
        try binding.store.finishErasures().map { ErasureResult($0) }
    }

    /// The erasures that were made after an event, oldest first.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public func erasures(since eventNumber: EventNumber = .zero) throws -> [Erasure] {
        let store = binding.store
        let names = try store.recordedNames()
        return try store.erasures(since: eventNumber).map { Erasure($0, names) }
    }

    /// The erasures of an object or of its values, oldest first; empty if there is none.
    ///
    /// A context of the past shows an erased object with no values. The list of erasures gives the reason.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    /// - Complexity: O(n) in the erasures of the store.
    public func erasures(of id: ObjectID) throws -> [Erasure] {
        try binding.store.erasures(of: id)
    }

    /// Makes erasures in this copy of the store, which was restored from a backup. Those that it has already are passed
    /// over.
    ///
    /// Objects that the rules of the model keep from being deleted here stay, with their links and without values.
    ///
    /// - Throws: as `erase(_:attributes:reason:author:)`, but nothing for what rules refuse; `persistentStoreOperation` if they are those of another store.
    @discardableResult
    public func apply(_ erasures: [Erasure]) throws -> ErasureResult {
        ErasureResult(try binding.store.apply(erasures.map(\.recorded)))
    }
}

extension ManagedObject {
    /// The erasures of the object or of its values, oldest first; empty if nothing was erased.
    ///
    /// A context of the past shows an erased object without the values. Where this is not empty, nil means erased.
    ///
    /// - Throws: `storeClosed`, `corrupt`; `deletedObject` for an object that is in no context.
    /// - Complexity: O(n) in the erasures of the store.
    public final var erasures: [Erasure] {
        get throws {
            guard let context = managedObjectContext else {
                throw StrataError(.deletedObject, "The object is in no context.", context: .init(objectID: objectID))
            }
            return try context.binding.store.erasures(of: objectID)
        }
    }
}

extension Store {
    fileprivate func erasures(of id: ObjectID) throws -> [Erasure] {
        let found = try erasures().filter { $0.record.objects.contains(id) }
        let names = try recordedNames()
        return found.map { Erasure($0, names) }
    }
}

extension ErasureResult {
    fileprivate init(_ report: ErasureReport) {
        self.init(
            objectIDs: report.objects, deletedCount: report.deletedCount, eventCount: report.eventCount,
            destroyedKeyCount: report.destroyedKeyCount,
            missingKeyCount: report.missingKeyCount, waiting: report.waiting, duration: report.duration)
    }
}

extension Erasure {
    package init(_ erasure: RecordedErasure, _ names: RecordedNames) {
        var seen: Set<String> = []
        self.init(
            eventNumber: erasure.eventNumber, transactionID: erasure.transactionID, date: erasure.date,
            author: erasure.author, reason: erasure.metadata[HistoryTransaction.reasonKey],
            objectIDs: erasure.record.objects,
            attributes: erasure.record.properties.map { names.name(of: $0) }.filter { seen.insert($0).inserted },
            properties: erasure.record.properties.map(\.rawValue), eventCount: erasure.record.eventCount,
            storeIdentifier: erasure.storeIdentifier)
    }

    package var recorded: RecordedErasure {
        RecordedErasure(
            eventNumber: eventNumber, transactionID: transactionID, date: date, author: author,
            metadata: reason.map { [HistoryTransaction.reasonKey: $0] } ?? [:],
            record: ErasureRecord(
                objects: objectIDs.sorted(), properties: properties.map(PropertyID.init(rawValue:)),
                eventCount: eventCount), storeIdentifier: storeIdentifier)
    }
}
