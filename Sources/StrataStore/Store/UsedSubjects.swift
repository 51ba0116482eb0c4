import Locking
import StrataModel

/// The subjects under whose keys a store has values, for the check that none gets a second key.
///
/// They are found by one walk over the objects of entities with such attributes, when the key of a subject is missing that
/// may have values. From then on the events since tell of new ones.
final class UsedSubjects: Sendable {
    private struct State {
        var subjects: Set<SubjectID> = []
        /// The state that they are of; nil before the first walk.
        var eventNumber: EventNumber?
    }

    private let state = Locked(State())

    static func uses(of store: Store) -> SubjectUses {
        let used = UsedSubjects()
        return SubjectUses(
            some: { [weak store] in try store.map { try subjects(of: $0, mostObjects: 1000) } ?? [] },
            first: { [weak store] wanted in try store.flatMap { try used.first(of: wanted, in: $0) } })
    }

    /// One of these subjects under which a value is; nil if there is none.
    ///
    /// - Complexity: O(events since the last time). O(objects) the first time, and if there is one.
    private func first(of wanted: Set<SubjectID>, in store: Store) throws -> SubjectID? {
        if try known(in: store).isDisjoint(with: wanted) { return nil }
        // The values may be gone by now.
        state.withLock { $0 = State() }
        return try known(in: store).intersection(wanted).min { $0.description < $1.description }
    }

    private func known(in store: Store) throws -> Set<SubjectID> {
        let head = try store.head()
        let (subjects, last) = state.withLock { ($0.subjects, $0.eventNumber) }
        if last == head { return subjects }
        var found: Set<SubjectID>
        if let last, last < head, try last >= store.baseline()?.event ?? .zero {
            found = subjects
            let properties = Set(
                try store.schemas.flatMap(\.entities).flatMap(\.properties).lazy
                    .filter { $0.attribute?.encryption?.subject != nil }.map(\.id))
            try store.events(from: last.advanced(by: 1), through: head) { event in
                for (property, value) in event.laterValues where properties.contains(property) {
                    try Self.note(value, store, &found)
                }
                return true
            }
        } else {
            found = try Self.subjects(of: store, at: head)
        }
        state.withLock { $0 = State(subjects: found, eventNumber: head) }
        return found
    }

    private static func subjects(
        of store: Store, at eventNumber: EventNumber? = nil, mostObjects: Int = .max
    ) throws -> Set<SubjectID> {
        var found: Set<SubjectID> = []
        try store.read(at: try eventNumber ?? store.head()) { snapshot in
            for entity in snapshot.schema.entities where !entity.isAbstract {
                let slots = entity.properties.filter { $0.attribute?.encryption?.subject != nil }.map(\.slot)
                guard !slots.isEmpty else { continue }
                var seen = 0
                try snapshot.scan(entity.id) { _, row in
                    let image = try row.converted(to: entity)
                    for slot in slots {
                        let value = try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                            try reader.value(slot)
                        }
                        try note(value, store, &found)
                    }
                    seen += 1
                    return seen < mostObjects
                }
            }
        }
        return found
    }

    private static func note(_ value: AttributeValue, _ store: Store, _ subjects: inout Set<SubjectID>) throws {
        switch value {
        case .encrypted(let encrypted):
            if let subject = encrypted.subject { subjects.insert(subject) }
        case .blob(let reference):
            // What is lost is lost under any key.
            do {
                if let subject = EncryptedValue(stored: try store.blob(reference)).subject { subjects.insert(subject) }
            } catch let error as StrataError where error.code == .missingBlob {
                return
            }
        default: return
        }
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
