import StrataModel

/// Collects what a transaction touched, for its record.
struct TouchedSet {
    private var entities: [EntityID: (kinds: UInt8, properties: Set<PropertyID>)] = [:]
    private var last: EntityID?
    private var lastKind: EventKind?

    mutating func add(_ entity: EntityID, _ kind: EventKind, _ properties: [PropertyID] = []) {
        // Saves come in runs of one entity and kind.
        if properties.isEmpty, entity == last, kind == lastKind { return }
        entities[entity, default: (0, [])].kinds |= 1 << (kind.rawValue - 1)
        if !properties.isEmpty { entities[entity, default: (0, [])].properties.formUnion(properties) }
        last = entity
        lastKind = kind
    }

    /// Sorted by entity.
    var records: [TransactionRecord.Touched] {
        entities.map {
            TransactionRecord.Touched(entity: $0.key, kinds: $0.value.kinds, properties: $0.value.properties.sorted())
        }.sorted { $0.entity < $1.entity }
    }
}
