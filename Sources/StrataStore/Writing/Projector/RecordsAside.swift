import LMDB
import StrataModel

/// Records that make room for a run of new ones in front of them, so that the run fills its pages.
///
/// LMDB splits a full page in the middle, unless the new record is the page's last: keys that ascend, but not behind
/// all others of their table (an entity's rows, the newest objects with one value of an indexed property), would leave
/// every page half empty. So what stands behind the run on its page is taken out and put back when the run has passed.
/// A transaction that fails in between is given up as a whole, so nothing is lost.
struct RecordsAside: ~Copyable {
    private struct Place {
        let key: Int
        let keySize: Int
        let value: Int
        let valueSize: Int
    }

    /// How often a batch looks for a run, in records written; also the shortest run.
    static let step = 16

    private var arena = Arena(capacity: 1 << 12)
    private var places: [Place] = []
    /// The first that is still aside.
    private var next = 0

    var isEmpty: Bool { next == places.count }

    /// Takes out what stands behind the cursor's record on its page, if that is worth it; and that record, where the run
    /// is only to begin in front of it.
    ///
    /// - Parameter isFollowed: whether as many records as given are about to be put in front of a key.
    mutating func stepAside(
        _ cursor: WriteCursor, withOwn isOwnIncluded: Bool = false,
        isFollowed: (_ by: Int, _ before: UnsafeRawBufferPointer) -> Bool
    ) throws {
        // A page that keeps little would be joined with its neighbour.
        guard isEmpty, let behind = cursor.recordsInPage(isOwnIncluded: isOwnIncluded),
            2 * behind.countBefore >= behind.count,
            let first = behind.recordInPage(0), isFollowed(max(Self.step, behind.count), first.key)
        else { return }
        arena.removeAll()
        places.removeAll(keepingCapacity: true)
        next = 0
        for index in 0..<behind.count {
            guard let (key, value) = behind.recordInPage(index) else { return places.removeAll() }
            places.append(
                Place(
                    key: arena.append(key), keySize: key.count, value: arena.append(value), valueSize: value.count))
        }
        for (index, place) in places.enumerated() {
            guard try index == 0 && isOwnIncluded || cursor.next(), cursor.key.compare(with: key(place)) == 0 else {
                throw StrataError(.corrupt, "A page's records do not follow each other.")
            }
            try cursor.delete()
        }
    }

    /// Puts back what is not above a key; without one, everything.
    mutating func comeBack(_ cursor: WriteCursor, upTo limit: UnsafeRawBufferPointer?) throws {
        while next < places.count {
            let place = places[next]
            if let limit, key(place).compare(with: limit) > 0 { return }
            try cursor.put(key(place), arena.bytes(at: place.value, count: place.valueSize))
            next += 1
        }
    }

    private borrowing func key(_ place: Place) -> UnsafeRawBufferPointer {
        arena.bytes(at: place.key, count: place.keySize)
    }
}
