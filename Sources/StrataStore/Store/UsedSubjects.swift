import Foundation
import Locking
import StrataModel

/// The subjects under whose keys a store has values, for the check that none gets a second key.
///
/// If the key of a subject is missing, one walk over the objects of entities with such attributes collects all subjects
/// in a `SubjectFilter`. Subjects of later events are added to it. Only for a subject that the filter may contain,
/// another walk decides.
final class UsedSubjects: Sendable {
    private struct State {
        var subjects = SubjectFilter()
        /// The state that they are of; nil before the first walk.
        var eventNumber: EventNumber?
    }

    private let state = Locked(State())

    static func uses(of store: Store) -> SubjectUses {
        let used = UsedSubjects()
        return SubjectUses(
            some: { [weak store] in try store.map { try sample(of: $0) } ?? [] },
            first: { [weak store] wanted in try store.flatMap { try used.first(of: wanted, in: $0) } })
    }

    /// One of these subjects under which a value is; nil if there is none.
    ///
    /// - Complexity: O(events since the last time). O(objects) the first time, and if there is one or was one; in about
    ///   one of 2,000 other cases, too.
    private func first(of wanted: Set<SubjectID>, in store: Store) throws -> SubjectID? {
        let suspects = try filter(of: store).suspects(among: wanted)
        if suspects.isEmpty { return nil }
        // The values may be gone by now.
        var found: SubjectID?
        try Self.walk(store) { subject in
            if suspects.contains(subject) { found = subject }
            return found == nil
        }
        return found
    }

    private static let sampleSize = 1000

    /// Returns the subjects of the first objects of each entity.
    private static func sample(of store: Store) throws -> Set<SubjectID> {
        var found: Set<SubjectID> = []
        try walk(store, mostObjects: sampleSize) { subject in
            found.insert(subject)
            return true
        }
        return found
    }

    private func filter(of store: Store) throws -> SubjectFilter {
        let head = try store.head()
        var (subjects, last) = state.withLock { ($0.subjects, $0.eventNumber) }
        if last == head { return subjects }
        if let last, last < head, try last >= store.baseline()?.event ?? .zero {
            let properties = Set(
                try store.schemas.flatMap(\.entities).flatMap(\.properties).lazy
                    .filter { $0.attribute?.encryption?.subject != nil }.map(\.id))
            try store.events(from: last.advanced(by: 1), through: head) { event in
                for (property, value) in event.laterValues where properties.contains(property) {
                    if let subject = Self.subject(of: value, store) { subjects.insert(subject) }
                }
                return true
            }
        } else {
            last = nil
        }
        if last == nil || subjects.isFull {
            subjects = SubjectFilter(capacity: 2 * max(subjects.count, try Self.objectCount(of: store)))
            try Self.walk(store, at: head) { subject in
                subjects.insert(subject)
                return true
            }
        }
        let filled = subjects
        state.withLock { $0 = State(subjects: filled, eventNumber: head) }
        return filled
    }

    // MARK: The walk

    private static func entities(_ snapshot: Snapshot) -> [(entity: EntitySchema, slots: [Int])] {
        snapshot.schema.entities.compactMap { entity in
            let slots = entity.properties.filter { $0.attribute?.encryption?.subject != nil }.map(\.slot)
            return entity.isAbstract || slots.isEmpty ? nil : (entity, slots)
        }
    }

    private static func objectCount(of store: Store) throws -> Int {
        try store.read(at: try store.head()) { snapshot in
            try snapshot.roughCount(of: entities(snapshot).map(\.entity))
        }
    }

    /// Calls `body` with the subject of each value until it returns false.
    private static func walk(
        _ store: Store, at eventNumber: EventNumber? = nil, mostObjects: Int = .max, _ body: (SubjectID) -> Bool
    ) throws {
        try store.read(at: try eventNumber ?? store.head()) { snapshot in
            var goesOn = true
            for (entity, slots) in entities(snapshot) where goesOn {
                var seen = 0
                try snapshot.forEachRow(of: entity) { _, row in
                    for slot in slots where goesOn {
                        if let subject = try subject(in: row, slot, store) { goesOn = body(subject) }
                    }
                    seen += 1
                    return goesOn && seen < mostObjects
                }
            }
        }
    }

    private static func subject(in row: RowReader, _ slot: Int, _ store: Store) throws(CorruptRecord) -> SubjectID? {
        if let bytes = try row.bytes(slot) { return EncryptedValue(stored: Data(bytes.prefix(headSize))).subject }
        return try row.blob(slot).flatMap { subject(of: $0, store) }
    }

    private static func subject(of value: AttributeValue, _ store: Store) -> SubjectID? {
        switch value {
        case .encrypted(let encrypted): encrypted.subject
        case .blob(let reference): subject(of: reference, store)
        default: nil
        }
    }

    /// Returns nil for a large value whose file cannot be read: it is lost under any key.
    private static func subject(of reference: BlobReference, _ store: Store) -> SubjectID? {
        store.blobs.beginning(of: reference, headSize).flatMap { EncryptedValue(stored: $0).subject }
    }

    /// The number of bytes of a value that contain its subject.
    private static let headSize =
        EncryptedValue.subjectKeyRange.upperBound + EncryptedValue.nonceSize + EncryptedValue.tagSize
}

/// A Bloom filter of subjects: whether one is in it, with false alarms, in 16 to 32 bits for each.
struct SubjectFilter: Sendable {
    private var words: [UInt64]
    private let capacity: Int
    private(set) var count = 0

    private static let bitsForEach = 16
    private static let positions: UInt64 = 8

    /// - Parameter capacity: for how many subjects one of 2,000 others gives a false alarm.
    init(capacity: Int = 0) {
        self.capacity = max(1024, capacity)
        let bits = UInt64(self.capacity * Self.bitsForEach)
        words = [UInt64](repeating: 0, count: 1 << (64 - (bits / 64 - 1).leadingZeroBitCount))
    }

    /// Whether more are in it than it is made for.
    var isFull: Bool { count > capacity }

    mutating func insert(_ subject: SubjectID) {
        var isNew = false
        for position in positions(of: subject) {
            let bit = UInt64(1) << (position & 63)
            isNew = isNew || words[Int(position >> 6)] & bit == 0
            words[Int(position >> 6)] |= bit
        }
        if isNew { count += 1 }
    }

    func suspects(among subjects: Set<SubjectID>) -> Set<SubjectID> {
        subjects.filter { positions(of: $0).allSatisfy { words[Int($0 >> 6)] & UInt64(1) << ($0 & 63) != 0 } }
    }

    /// The id of a subject is a keyed hash, so its halves are independent.
    private func positions(of subject: SubjectID) -> some Sequence<UInt64> {
        let (first, step) = withUnsafeBytes(of: subject) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        let mask = UInt64(words.count * 64 - 1)
        return (0..<Self.positions).lazy.map { (first &+ $0 &* (step | 1)) & mask }
    }
}

extension RecordedEvent {
    /// The values that an event leaves in a row.
    fileprivate var laterValues: [(property: PropertyID, value: AttributeValue)] {
        switch payload {
        case .inserted(let values): values.map { ($0.property, $0.value.known) }
        case .updated(let changes): changes.map { ($0.property, $0.after.known) }
        default: []
        }
    }
}
