import Foundation
import LMDB
import StrataModel

/// Reassembles a log from the leaf pages of a data file whose trees cannot be followed.
///
/// Records of the log are recognised by their checksums. Among several with one number the chain of digests identifies
/// the committed one.
struct LogCarving {
    private let scan: LeafScan
    /// The locations of records by number, each content once.
    private var transactions: [UInt64: [LeafScan.Location]] = [:]
    private var events: [UInt64: [LeafScan.Location]] = [:]

    /// Records in one commit.
    private static let stepSize = 10_000

    /// - Throws: if the file cannot be read.
    init(file path: String) throws {
        scan = try LeafScan(path: path)
        scan.forEachEntry { key, location in
            guard key.count == 8, location.count >= EventHeader.size, let bytes = scan.bytes(at: location) else {
                return
            }
            let number = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
            bytes.withUnsafeBytes { note(number, location, $0) }
        }
    }

    var isEmpty: Bool { transactions.isEmpty }

    /// A record is recognised by its checksum. Most entries on the pages of a store are none, so an unreadable one is
    /// no error here. A damaged record of the log shows as a gap in the chain of digests.
    private mutating func note(_ number: UInt64, _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer) {
        if let event = try? EventView(bytes), EventDigest.matches(event) {
            add(location, bytes, to: &events[number, default: []])
        } else if (try? TransactionRecord(bytes, number: TransactionNumber(rawValue: number))) != nil {
            add(location, bytes, to: &transactions[number, default: []])
        }
    }

    /// Checksum and digest are at the beginning, so records that begin alike are the same.
    private func add(
        _ location: LeafScan.Location, _ bytes: UnsafeRawBufferPointer, to locations: inout [LeafScan.Location]
    ) {
        let beginning = bytes[..<EventHeader.size]
        let isKnown = locations.contains { other in
            let start = LeafScan.Location(offset: other.offset, count: EventHeader.size)
            return other.count == location.count && scan.bytes(at: start)?.elementsEqual(beginning) ?? false
        }
        if !isKnown { locations.append(location) }
    }

    // MARK: Writing

    /// Creates an environment in an empty directory with the tables of a store, and fills those of the log.
    func write(to path: String) throws {
        var options = EnvironmentOptions()
        options.durability = .disposable
        let environment = try Environment.open(at: path, options: options)
        do {
            let tables = try StoreTables(opening: environment)
            var digest = LogHead.start.digest
            var records: [(UInt64, [UInt8])] = []
            var contents: [(UInt64, [UInt8])] = []
            for number in transactions.keys.sorted() {
                guard let chosen = try transaction(number, after: digest) else { continue }
                digest = chosen.digest
                records.append((number, chosen.bytes))
                // An event number that two transactions claim belongs to the first.
                contents += chosen.events.filter { $0.0 > contents.last?.0 ?? 0 }
            }
            try append(records, to: tables.transactions, of: environment)
            try append(contents, to: tables.events, of: environment)
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
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
    private struct Candidate {
        let bytes: [UInt8]
        let events: [(UInt64, [UInt8])]
        let digest: [UInt8]
        /// Whether the digest follows from that of the transaction before.
        let follows: Bool
    }

    private func transaction(_ number: UInt64, after digest: [UInt8]) throws -> Candidate? {
        var best: Candidate?
        for location in transactions[number] ?? [] {
            guard let candidate = try candidate(number, location, after: digest) else { continue }
            if candidate.follows { return candidate }
            best = candidate
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
                follows: isWhole && chained == record.digest)
        }
    }

    /// An event of a transaction. If its payload was removed, it is left out even if an older page still has it.
    private func event(_ number: UInt64, of transaction: UInt64) throws -> [UInt8]? {
        var newest: [UInt8]?
        for location in events[number] ?? [] {
            guard let bytes = scan.bytes(at: location) else { continue }
            let header = try bytes.withUnsafeBytes { try EventView($0).header }
            guard header.transaction.rawValue == transaction else { continue }
            if header.flags.contains(.redacted) { return bytes }
            newest = bytes
        }
        return newest
    }
}
