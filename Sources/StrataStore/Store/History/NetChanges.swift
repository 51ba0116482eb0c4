package import StrataModel

/// The difference between two states, by value, of objects and pairs; steps in between do not show.
///
/// Changes between two events of the log, unsaved changes of a context and steps of undo all have this form. Values are
/// listed by property number, including the hidden positions of ordered relationships.
package struct NetChanges: Sendable, Hashable {
    package struct Object: Sendable, Hashable {
        package var existedBefore: Bool
        package var existsAfter: Bool
        /// All values of an inserted or deleted object; only the changed ones of another.
        package var values: [PropertyID: Values]

        package init(existedBefore: Bool, existsAfter: Bool, values: [PropertyID: Values] = [:]) {
            self.existedBefore = existedBefore
            self.existsAfter = existsAfter
            self.values = values
        }

        /// An object that was made with the values of a row, or deleted with them.
        package init(_ row: RowReader, _ entity: EntitySchema, isInserted: Bool) throws(CorruptRecord) {
            self.init(existedBefore: !isInserted, existsAfter: isInserted)
            for property in entity.properties where property.storage != nil {
                let value = try row.value(property.slot)
                values[property.id] =
                    isInserted ? Values(before: .null, after: value) : Values(before: value, after: .null)
            }
        }

        /// Adds one more change of a property; the first `before` and the last `after` count.
        package mutating func note(_ property: PropertyID, before: AttributeValue, after: AttributeValue) {
            values[property] = Values(before: values[property]?.before ?? before, after: after)
        }

        fileprivate var isNothing: Bool {
            existedBefore == existsAfter && (!existsAfter || values.values.allSatisfy(\.isNothing))
        }
    }

    package struct Values: Sendable, Hashable {
        package var before: AttributeValue
        package var after: AttributeValue

        package init(before: AttributeValue, after: AttributeValue) {
            self.before = before
            self.after = after
        }

        package var isNothing: Bool { before.isIdentical(to: after) }
    }

    /// The positions of a pair; nil if it is not linked.
    package struct PairPositionChange: Sendable, Hashable {
        package var before: PairPositions?
        package var after: PairPositions?

        package init(before: PairPositions?, after: PairPositions?) {
            self.before = before
            self.after = after
        }
    }

    package var objects: [ObjectID: Object] = [:]
    package var pairs: [PairKey: PairPositionChange] = [:]

    package init() {}

    package var isEmpty: Bool { objects.isEmpty && pairs.isEmpty }

    /// The changes that undo these.
    package var inverted: NetChanges {
        var result = NetChanges()
        result.objects = objects.mapValues { object in
            Object(
                existedBefore: object.existsAfter, existsAfter: object.existedBefore,
                values: object.values.mapValues { Values(before: $0.after, after: $0.before) })
        }
        result.pairs = pairs.mapValues { PairPositionChange(before: $0.after, after: $0.before) }
        return result
    }

    /// The changes with values decrypted whose key is known.
    package func decrypted(_ keys: KeyRing) -> NetChanges {
        var result = self
        for (id, object) in objects {
            for (property, values) in object.values {
                result.objects[id]?.values[property] = Values(
                    before: keys.shown(values.before, of: property, in: id),
                    after: keys.shown(values.after, of: property, in: id))
            }
        }
        // A value that has come under another key has not changed.
        result.simplify()
        return result
    }

    /// Adds changes that follow these.
    package mutating func append(_ later: NetChanges) {
        for (id, change) in later.objects { append(change, to: id) }
        for (key, positions) in later.pairs {
            pairs[key] = PairPositionChange(
                before: pairs[key].map { $0.before } ?? positions.before, after: positions.after)
        }
        simplify()
    }

    private mutating func append(_ change: Object, to id: ObjectID) {
        guard var object = objects[id] else {
            objects[id] = change
            return
        }
        object.existsAfter = change.existsAfter
        for (property, values) in change.values {
            object.note(property, before: values.before, after: values.after)
        }
        objects[id] = object
    }

    /// The changes that lead from the end of `earlier` to the end of these; both begin at the same state.
    package func since(_ earlier: NetChanges) -> NetChanges {
        var result = earlier.inverted
        result.append(self)
        return result
    }

    /// Drops changes that cancel out.
    package mutating func simplify() {
        for (id, object) in objects {
            if object.isNothing {
                objects[id] = nil
            } else if object.existedBefore, object.existsAfter {
                let changed = object.values.filter { !$0.value.isNothing }
                if changed.count != object.values.count { objects[id]?.values = changed }
            }
        }
        pairs = pairs.filter { $0.value.before != $0.value.after }
    }
}

extension Store {
    /// The changes made by the events from `first` through `last`.
    ///
    /// A value that a migration among them converted has its former value as `before`, under the property's newer number.
    ///
    /// - Throws: `historyDropped`, also if the history of an entity was thinned that they change; `futureEvent` if the
    ///   log ends before `last`; `corrupt`.
    /// - Complexity: a walk along those events.
    package func netChanges(from first: EventNumber, through last: EventNumber) throws -> NetChanges {
        var changes = NetChanges()
        try readLog { reader, head in
            guard last <= head.event else {
                throw StrataError(.futureEvent, "The log ends at \(head.event).", context: .init(eventNumber: last))
            }
            guard first <= last else { return }
            try reader.checkKept(from: first, head)
            var formers = FormerValues(reader)
            try reader.events(from: first, through: last) { event, eventNumber in
                let recorded = try RecordedEvent(event, eventNumber, reader.histories)
                try reader.checkValues(of: recorded)
                changes.note(
                    try formers.added(to: recorded.hasReferences ? reader.resolved(recorded) : recorded), keyRing)
                return true
            }
            changes.joinFormers(reader.histories)
        }
        changes.simplify()
        return changes
    }
}

extension Store {
    /// The changes of one object and its pairs made by the events after `eventNumber`.
    ///
    /// - Throws: `historyDropped` if the history of its entity was thinned behind `eventNumber`; `corrupt`.
    /// - Complexity: as `history(of:)` and `linkHistory(of:)`.
    package func netChanges(of id: ObjectID, after eventNumber: EventNumber) throws -> NetChanges {
        let events = try history(of: id, after: eventNumber) + linkHistory(of: id, after: eventNumber)
        var changes = NetChanges()
        try readLog { reader, _ in
            var formers = FormerValues(reader)
            for event in events.sorted(by: { $0.eventNumber < $1.eventNumber }) {
                try reader.checkValues(of: event)
                changes.note(try formers.added(to: reader.resolved(event)), keyRing)
            }
            changes.joinFormers(reader.histories)
        }
        changes.simplify()
        return changes
    }
}

extension NetChanges {
    /// Adds one event of the log, resolved and with former values.
    fileprivate mutating func note(_ event: RecordedEvent, _ keys: KeyRing) {
        switch event.payload {
        case .inserted(let values):
            guard let id = event.object else { return }
            var object = objects[id] ?? Object(existedBefore: false, existsAfter: true)
            object.existsAfter = true
            for value in values { object.note(value.property, before: .null, after: value.value.known) }
            objects[id] = object
        case .updated(let changes):
            guard let id = event.object else { return }
            var object = objects[id] ?? Object(existedBefore: true, existsAfter: true)
            for change in changes {
                var before = change.before.known
                if let former = event.formers[change.property] {
                    before = object.values.removeValue(forKey: former)?.before ?? before
                    before = keys.shown(before, of: former, in: id)
                }
                object.note(change.property, before: before, after: change.after.known)
            }
            objects[id] = object
        case .deleted(let values):
            guard let id = event.object else { return }
            var object = objects[id] ?? Object(existedBefore: true, existsAfter: false)
            object.existsAfter = false
            for value in values { object.note(value.property, before: value.value.known, after: .null) }
            objects[id] = object
        case .linked(let pair): note(pair, before: event.wasLinked ? pair.positions : nil, after: pair.positions)
        case .unlinked(let pair): note(pair, before: pair.positions, after: nil)
        case .moved(let pair): note(pair, before: pair.positionsBefore ?? pair.positions, after: pair.positions)
        case .modelInstalled, .maintenance, .redacted: break
        }
    }

    /// Joins the changes under a former number of a property with those under its newer one.
    fileprivate mutating func joinFormers(_ histories: SchemaHistory) {
        let lineage = histories.propertyLineage
        guard !lineage.isEmpty, let newest = histories.newest else { return }
        for (id, object) in objects where object.values.count > 1 {
            guard let entity = newest.entity(id.entityID) else { continue }
            for (former, values) in object.values {
                guard let heir = lineage.heir(of: former, in: entity), heir != former,
                    let later = objects[id]?.values[heir]
                else { continue }
                objects[id]?.values[former] = nil
                objects[id]?.values[heir] = Values(before: values.before, after: later.after)
            }
        }
        for (former, positions) in pairs {
            guard let heir = former.heir(lineage, newest), heir != former, let later = pairs[heir] else { continue }
            pairs[former] = nil
            pairs[heir] = PairPositionChange(before: positions.before, after: later.after)
        }
    }

    private mutating func note(_ pair: PairEvent, before: PairPositions?, after: PairPositions?) {
        pairs[pair.key] = PairPositionChange(before: pairs[pair.key].map { $0.before } ?? before, after: after)
    }
}

extension PairKey {
    /// The key that a pair has in a model; nil if its relationship is not there, or keeps its links elsewhere.
    func heir(_ lineage: PropertyLineage, _ schema: Schema) -> PairKey? {
        guard let entity = schema.entity(source.entityID), let heir = lineage.heir(of: property, in: entity) else {
            return nil
        }
        return schema.links.link(heir)?.pairKey(owner: source, member: target)
    }
}

extension RecordedEvent {
    /// Whether the event records a value by reference to an earlier event.
    fileprivate var hasReferences: Bool {
        switch payload {
        case .updated(let changes): changes.contains { $0.before.isReference || $0.after.isReference }
        case .deleted(let values): values.contains { $0.value.isReference }
        default: false
        }
    }
}

extension RecordedValue {
    fileprivate var isReference: Bool { if case .value = self { false } else { true } }

    /// The value of a resolved event, which has no references left.
    package var known: AttributeValue { if case .value(let value) = self { value } else { .null } }
}
