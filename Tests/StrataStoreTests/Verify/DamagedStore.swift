import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport

/// A store on disk with something in every table, and ways to damage it behind its back.
final class DamagedStore {
    let directory: URL
    let fixture: StoreFixture
    let alien: ObjectID
    let heat: ObjectID
    let ann: ObjectID
    let tag: ObjectID
    let deleted: ObjectID
    let blob: BlobReference

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: "damaged-\(UUID().uuidString).strata")
        fixture = try StoreFixture(
            .directory(directory),
            model: try MovieModel.make(extraAttributes: [
                .attribute(
                    AttributeDescription(
                        name: "poster", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true))
            ]))
        ann = try fixture.insert("Owner", ["name": .string("Ann")])
        tag = try fixture.insert("Tag", ["label": .string("space")])
        blob = try fixture.store.stageBlob(Data(repeating: 7, count: 100_000))
        alien = try fixture.insert(
            "Movie", ["title": .string("Alien"), "owner": .objectID(ann), "poster": .blob(blob)])
        heat = try fixture.insert("Movie", ["title": .string("Heat"), "owner": .objectID(ann)])
        deleted = try fixture.insert("Movie", ["title": .string("Gone")])
        try fixture.link(alien, "tags", tag, place: 10)
        try fixture.update(alien, ["rating": .double(4)])
        try fixture.delete(deleted)
    }

    deinit {
        fixture.store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    var store: Store { fixture.store }
    var tables: StoreTables { store.file.tables }

    func table(_ name: String) -> Table {
        switch name {
        case "meta": tables.meta
        case "state": tables.state
        case "events": tables.events
        case "transactions": tables.transactions
        default: tables.viewTables.first { $0.name == name }?.table.main ?? tables.meta
        }
    }

    func write(_ body: (WriteTransaction) throws -> Void) throws {
        try store.file.environment.write { try body($0) }
    }

    /// Every record of a table, copied.
    func records(_ name: String) throws -> [(key: [UInt8], value: [UInt8])] {
        try store.file.environment.read { transaction in
            try transaction.withCursor(table(name)) { cursor in
                var records: [(key: [UInt8], value: [UInt8])] = []
                var found = try cursor.first()
                while found {
                    records.append((Array(cursor.key), Array(cursor.value)))
                    found = try cursor.next()
                }
                return records
            }
        }
    }

    func put(_ name: String, _ key: [UInt8], _ value: [UInt8]) throws {
        try write { transaction in
            try key.withUnsafeBytes { key in
                try value.withUnsafeBytes { try transaction.put(table(name), key, $0) }
            }
        }
    }

    func remove(_ name: String, _ key: [UInt8]) throws {
        try write { transaction in _ = try key.withUnsafeBytes { try transaction.delete(table(name), $0) } }
    }

    /// Takes payload and salt out of an event's record, as redaction is to.
    static func redacted(_ record: [UInt8]) -> [UInt8] {
        var record = Array(record.prefix(EventHeader.size))
        record[2] |= UInt8(EventFlags.redacted.rawValue)
        for offset in EventHeader.saltOffset..<EventHeader.size { record[offset] = 0 }
        record.withUnsafeMutableBytes { EventHeader.seal($0) }
        return record
    }

    func problems(_ depth: VerificationDepth = .full) throws -> [VerificationProblem] {
        try store.verify(depth).problems
    }

    func kinds(_ depth: VerificationDepth = .full) throws -> Set<VerificationProblem.Kind> {
        Set(try problems(depth).map(\.kind))
    }
}
