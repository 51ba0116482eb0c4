import Foundation
import LMDB
import StrataModel

/// Reassembles a log from the leaf pages of a data file whose trees cannot be followed.
///
/// Records of the log are recognised by their checksums. Among several with one number the chain of digests identifies
/// the committed one.
///
/// If the file cannot be opened at all, lost records of transactions are reconstructed from events, and records of
/// views that are newer than the log are kept for `RowSalvage`.
struct LogCarving {
    /// The parts of the log that are searched for.
    enum Scope {
        case log
        /// The log and the views, for a file that cannot be opened.
        case everything
    }

    let scan: LeafScan
    private let scope: Scope
    /// The locations of records by number, each content once.
    private(set) var transactions: [UInt64: [LeafScan.Location]] = [:]
    private(set) var events: [UInt64: [FoundEvent]] = [:]
    private let blocks = FoundBlocks()
    /// The newest state of each row, deletion and pair that is found.
    private(set) var rows: [ObjectID: (revision: EventNumber, location: LeafScan.Location)] = [:]
    private(set) var tombstones: [ObjectID: EventNumber] = [:]
    private(set) var pairs: [PairKey: PairState] = [:]
    /// The ids of transactions, by number.
    private(set) var transactionIDs: [UInt64: UUID] = [:]
    /// The newest head that is found.
    private(set) var head: LogHead?
    private(set) var header: StoreHeader?
    /// Notes on the log that was made of the records.
    private(set) var notes = Notes()

    /// The records that were made up, in place of lost ones.
    struct Notes {
        /// Transactions whose records are lost, but whose events exist.
        var madeUp: [TransactionNumber] = []
        /// The last event of the log that was made.
        var end = EventNumber.zero
    }

    /// Records in one commit.
    private static let stepSize = 10_000

    /// - Throws: if the file cannot be read.
    init(file path: String, _ scope: Scope = .log) throws {
        scan = try LeafScan(path: path)
        self.scope = scope
        let least = scope == .log ? EventBlock.smallestSize : 8
        scan.forEachEntry { key, location in
            guard key.count == 8 || scope == .everything, location.count >= least,
                let bytes = scan.bytes(at: location)
            else { return }
            bytes.withUnsafeBytes { value in
                guard key.count == 8 else { return noteSmall(key, value) }
                note(UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)), location, value)
            }
        }
    }

    var isEmpty: Bool { transactions.isEmpty && (scope == .log || events.isEmpty) }

    /// A record is recognised by its checksum. Most entries on the pages of a store are none, so an unreadable one is
    /// no error here. A damaged record of the log shows as a gap in the chain of digests.
    private mutating func note(_ number: UInt64, _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer) {
        if let event = try? EventView(bytes), EventDigest.matches(event) {
            add(FoundEvent(location: location), bytes, to: &events[number, default: []])
        } else if EventBlock.isBlock(bytes), noteBlock(number, location, bytes) {
        } else if (try? TransactionRecord(bytes, number: TransactionNumber(rawValue: number))) != nil {
            add(location, bytes, to: &transactions[number, default: []])
        } else if scope == .everything {
            noteView(ObjectID(rawValue: number), location, bytes)
        }
    }

    /// - Returns: whether it is a block; then its events were noted.
    private mutating func noteBlock(
        _ first: UInt64, _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer
    ) -> Bool {
        guard let count = blocks.count(bytes), first <= UInt64.max >> 1 else { return false }
        for index in 0..<count {
            add(
                FoundEvent(location: location, index: index), bytes,
                to: &events[first + UInt64(index), default: []])
        }
        return true
    }

    private mutating func noteView(_ id: ObjectID, _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer) {
        guard !id.isNil, id.entityID.rawValue != 0 else { return }
        if let row = try? StoredRow(bytes) {
            if row.revision > rows[id]?.revision ?? .zero { rows[id] = (row.revision, location) }
        } else if let event = try? Tombstone.eventNumber(bytes), bytes.count == 8 {
            tombstones[id] = max(tombstones[id] ?? .zero, event)
        }
    }

    /// Records whose keys are no numbers: pairs, ids of transactions, header and head.
    private mutating func noteSmall(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch key.count {
        case StoreKey.linkSize:
            guard let pair = StoreKey.pair(key), let state = try? PairState(value) else { return }
            if state.revision > pairs[pair]?.revision ?? .zero { pairs[pair] = state }
        case 16 where value.count == 8:
            let number = UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
            transactionIDs[number] = UUID(uuid: key.loadUnaligned(as: uuid_t.self))
        case 4:
            if let found = try? LogHead(value), found.event > head?.event ?? .zero { head = found }
        case 6:
            if let found = try? StoreHeader(value) { header = found }
        default: break
        }
    }

    /// Checksum and digest are at the beginning, so records that begin alike are the same.
    private func isKnown(
        _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer, _ other: LeafScan.Location
    ) -> Bool {
        guard other.count == location.count else { return false }
        let size = min(location.count, EventHeader.size)
        return scan.bytes(at: .init(offset: other.offset, count: size))?.elementsEqual(bytes[..<size]) ?? false
    }

    private func add(
        _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer, to locations: inout [LeafScan.Location]
    ) {
        if !locations.contains(where: { isKnown(location, bytes, $0) }) { locations.append(location) }
    }

    private func add(_ event: FoundEvent, _ bytes: UnsafeRawBufferPointer, to events: inout [FoundEvent]) {
        if !events.contains(where: { $0.index == event.index && isKnown(event.location, bytes, $0.location) }) {
            events.append(event)
        }
    }

    /// The whole record of an event.
    func bytes(of event: FoundEvent) -> [UInt8]? {
        guard let bytes = scan.bytes(at: event.location) else { return nil }
        return event.index.map { blocks.event($0, of: event.location, bytes) } ?? bytes
    }

    // MARK: Writing

    /// Creates an environment in an empty directory with the tables of a store, and fills those of the log.
    mutating func write(to path: String) throws {
        var options = EnvironmentOptions()
        options.durability = .disposable
        let environment = try Environment.open(at: path, options: options)
        do {
            let tables = try StoreTables(opening: environment)
            let log = scope == .log ? try found() : try mended()
            notes = log.notes
            let (records, contents) = (log.records, log.events)
            try append(records, to: tables.transactions, of: environment)
            try append(contents, to: tables.events, of: environment)
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    /// The records of a log, in order.
    struct Assembled {
        var records: [(UInt64, [UInt8])] = []
        var events: [(UInt64, [UInt8])] = []
        var notes = Notes()
    }

    /// Assembles the log from what was found, without repairs.
    private func found() throws -> Assembled {
        var log = Assembled()
        var digest = LogHead.start.digest
        for number in transactions.keys.sorted() {
            guard let chosen = try transaction(number, after: digest) else { continue }
            digest = chosen.digest
            log.records.append((number, chosen.bytes))
            // An event number that two transactions claim belongs to the first.
            log.events += chosen.events.filter { $0.0 > log.events.last?.0 ?? 0 }
        }
        return log
    }

    private func append(_ records: [(UInt64, [UInt8])], to table: Table, of environment: Environment) throws {
        for start in stride(from: 0, to: records.count, by: Self.stepSize) {
            try environment.write { transaction in
                for (number, bytes) in records[start..<min(start + Self.stepSize, records.count)] {
                    try bytes.withUnsafeBytes { try transaction.append(table, number, $0) }
                }
            }
        }
    }

    /// A transaction that may have been committed.
    struct Candidate {
        let bytes: [UInt8]
        let events: [(UInt64, [UInt8])]
        let digest: [UInt8]
        /// Whether the digest follows from that of the transaction before.
        let follows: Bool
        let isWhole: Bool
    }

    func transaction(_ number: UInt64, after digest: [UInt8]) throws -> Candidate? {
        var best: Candidate?
        for location in transactions[number] ?? [] {
            guard let candidate = try candidate(number, location, after: digest) else { continue }
            if candidate.follows { return candidate }
            if candidate.isWhole || !(best?.isWhole ?? false) { best = candidate }
        }
        return best
    }

    private func candidate(_ number: UInt64, _ location: LeafScan.Location, after digest: [UInt8]) throws -> Candidate?
    {
        guard let bytes = scan.bytes(at: location) else { return nil }
        return try bytes.withUnsafeBytes { buffer in
            let record = try TransactionRecord(buffer, number: TransactionNumber(rawValue: number))
            var chain = EventDigest.Chain(previous: digest, record: buffer)
            var found: [(UInt64, [UInt8])] = []
            for offset in 0..<UInt64(record.eventCount) {
                guard let event = try event(record.firstEvent.rawValue + offset, of: number) else { continue }
                event.withUnsafeBytes { chain.add($0) }
                found.append((record.firstEvent.rawValue + offset, event))
            }
            let isWhole = found.count == record.eventCount
            let chained = chain.finish()
            return Candidate(
                bytes: bytes, events: found, digest: record.digest,
                follows: isWhole && (record.isErased || chained == record.digest), isWhole: isWhole)
        }
    }

    /// An event of a transaction. If its payload was removed, it is left out even if an older page still has it.
    func event(_ number: UInt64, of transaction: UInt64) throws -> [UInt8]? {
        var newest: [UInt8]?
        for event in events[number] ?? [] {
            guard let bytes = bytes(of: event) else { continue }
            let header = try bytes.withUnsafeBytes { try EventView($0).header }
            guard header.transaction.rawValue == transaction else { continue }
            if header.flags.isReduced { return bytes }
            newest = bytes
        }
        return newest
    }
}
