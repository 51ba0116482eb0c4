import StrataModel

/// Collects the entities and properties that a transaction touches, for its record.
struct TouchedSet {
    private var entities: [EntityID: (kinds: UInt8, properties: Set<PropertyID>)] = [:]
    private var last: EntityID?
    private var lastKind: EventKind?
    private var lastProperty: PropertyID?

    mutating func add(_ entity: EntityID, _ kind: EventKind) {
        // Consecutive changes are mostly of one entity and kind.
        if entity == last, kind == lastKind { return }
        entities[entity, default: (0, [])].kinds |= 1 << (kind.rawValue - 1)
        last = entity
        lastKind = kind
        lastProperty = nil
    }

    mutating func add(_ entity: EntityID, _ kind: EventKind, _ property: PropertyID) {
        add(entity, kind)
        if property == lastProperty { return }
        entities[entity, default: (0, [])].properties.insert(property)
        lastProperty = property
    }

    /// Sorted by entity.
    var records: [TransactionRecord.Touched] {
        entities.map {
            TransactionRecord.Touched(entity: $0.key, kinds: $0.value.kinds, properties: $0.value.properties.sorted())
        }.sorted { $0.entity < $1.entity }
    }
}
