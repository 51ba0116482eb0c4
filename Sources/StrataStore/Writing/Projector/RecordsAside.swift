import LMDB
import StrataModel

/// Makes room for a run of new records in front of existing ones, so that the run fills its pages.
///
/// LMDB splits a full page in the middle, unless the new record goes to its end. Ascending keys that are not the
/// greatest of their table (an entity's rows, the newest objects with one value of an indexed property) would leave
/// every page half empty. So the records after the run on its page are taken out, and put back when the run has passed.
/// If the transaction fails in between, it is abandoned as a whole.
struct RecordsAside: ~Copyable {
    private struct Record {
        let key: Int
        let keySize: Int
        let value: Int
        let valueSize: Int
    }

    /// The interval at which a batch looks for a run, in written records; also the length of the shortest run.
    static let step = 16

    private var arena = Arena(capacity: 1 << 12)
    private var records: [Record] = []
    /// The first record that is still taken out.
    private var next = 0

    var isEmpty: Bool { next == records.count }

    /// Takes out the records after the cursor's on its page if it is worth it, and the cursor's own record if the run
    /// begins in front of it.
    ///
    /// - Parameter isFollowed: whether at least that many records are about to be put in front of a key.
    mutating func stepAside(
        _ cursor: WriteCursor, withOwn isOwnIncluded: Bool = false,
        isFollowed: (_ by: Int, _ before: UnsafeRawBufferPointer) -> Bool
    ) throws {
        // LMDB would merge a page with few records left with its neighbour.
        guard isEmpty, let behind = cursor.recordsInPage(isOwnIncluded: isOwnIncluded),
            2 * behind.countBefore >= behind.count,
            let first = behind.recordInPage(0), isFollowed(max(Self.step, behind.count), first.key)
        else { return }
        arena.removeAll()
        records.removeAll(keepingCapacity: true)
        next = 0
        for index in 0..<behind.count {
            guard let (key, value) = behind.recordInPage(index) else { return records.removeAll() }
            records.append(
                Record(
                    key: arena.append(key), keySize: key.count, value: arena.append(value), valueSize: value.count))
        }
        for (index, record) in records.enumerated() {
            guard try index == 0 && isOwnIncluded || cursor.next(), cursor.key.compare(with: key(record)) == 0 else {
                throw StrataError(.corrupt, "A page's records do not follow each other.")
            }
            try cursor.delete()
        }
    }

    /// Puts back the records up to a key; without a key, all.
    mutating func comeBack(_ cursor: WriteCursor, upTo limit: UnsafeRawBufferPointer?) throws {
        while next < records.count {
            let record = records[next]
            if let limit, key(record).compare(with: limit) > 0 { return }
            try cursor.put(key(record), arena.bytes(at: record.value, count: record.valueSize))
            next += 1
        }
    }

    private borrowing func key(_ record: Record) -> UnsafeRawBufferPointer {
        arena.bytes(at: record.key, count: record.keySize)
    }
}
