import LMDB
import StrataModel

/// Compares the two ends of one-to-ones while a verification walks the rows.
///
/// Each link adds at one end to a sum what it takes away at the other, so the sum is 0 if all ends agree. If it is not,
/// the objects are looked up one by one.
struct OneToOneEnds {
    private let schema: Schema?
    private var sum: UInt64 = 0
    /// Of the last entity; consecutive rows are mostly of one.
    private var last: (entity: EntitySchema, ends: [End])?

    /// A to-one whose inverse is a to-one.
    struct End {
        let property: PropertyID
        let inverse: PropertyID
        let slot: Int

        /// Nil if the row leads nowhere.
        func target(_ reader: RowReader, _ layout: RowLayout, _ entity: EntitySchema) -> ObjectID? {
            guard let number = layout.slotNumber(slot, of: entity) else { return nil }
            let target = reader.reference(number)
            return target.isNil ? nil : target
        }
    }

    init(_ schema: Schema?) { self.schema = schema }

    /// Whether each end that was added leads to one that leads back.
    var agree: Bool { sum == 0 }

    mutating func add(_ id: ObjectID, _ reader: RowReader, _ layout: RowLayout) {
        guard let (entity, ends) = ends(of: id.entityID) else { return }
        for end in ends {
            guard let target = end.target(reader, layout, entity), end.property != end.inverse || id != target else {
                continue
            }
            let isFirst = (end.property.rawValue, id.rawValue) < (end.inverse.rawValue, target.rawValue)
            let number = min(end.property.rawValue, end.inverse.rawValue)
            let (first, second) = isFirst ? (id, target) : (target, id)
            let term = Self.mixed(UInt64(number), first.rawValue, second.rawValue)
            sum = isFirst ? sum &+ term : sum &- term
        }
    }

    /// The one-to-ones of a row that lead somewhere.
    mutating func links(of id: ObjectID, _ reader: RowReader, _ layout: RowLayout) -> [(end: End, target: ObjectID)] {
        guard let (entity, ends) = ends(of: id.entityID) else { return [] }
        return ends.compactMap { end in end.target(reader, layout, entity).map { (end, $0) } }
    }

    /// Nil if objects of the entity have no one-to-ones.
    private mutating func ends(of id: EntityID) -> (entity: EntitySchema, ends: [End])? {
        if last?.entity.id != id {
            guard let schema, let entity = schema.entity(id) else { return nil }
            let ends = schema.links.slotLinks(of: id).compactMap { link -> End? in
                guard case .toOne(let inverse) = link.inverse else { return nil }
                return End(property: link.property, inverse: inverse, slot: link.slot)
            }
            last = (entity, ends)
        }
        return last.flatMap { $0.ends.isEmpty ? nil : $0 }
    }

    /// The steps of MurmurHash3's 64-bit finalizer (Appleby), for each word.
    private static func mixed(_ number: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
        mixed(mixed(mixed(0x9E37_79B9_7F4A_7C15, number), first), second)
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        var hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        hash ^= hash >> 29
        return hash
    }
}

extension Verifier {
    /// Reports one-to-ones that lead to an object which does not lead back. A target may have been deleted without an
    /// action.
    func checkOneToOnes() throws {
        guard !oneToOnes.agree, let schema = histories.newest else { return }
        var ends = OneToOneEnds(schema)
        try scan(tables.objects) { key, _ in
            guard key.count == 8 else { return }
            let id = StoreKey.objectID(key, at: 0)
            guard schema.entity(id.entityID) != nil, let row = readableRow(id) else { return }
            for (end, target) in ends.links(of: id, row.reader, row.layout) {
                guard let entity = schema.entity(target.entityID), let back = entity.slot(of: end.inverse),
                    let row = readableRow(target)
                else { continue }
                let other = row.layout.slotNumber(back, of: entity).map(row.reader.reference) ?? ObjectID(rawValue: 0)
                guard other != id else { continue }
                let inverse = entity.property(end.inverse)?.name ?? ""
                let found = other.isNil ? "whose \(inverse) is nil" : "whose \(inverse) is \(name(other))"
                note(
                    .link, name(end.property, id),
                    "it leads to \(name(target)), \(found); a save that sets one of the two ends mends it")
            }
        }
    }
}
