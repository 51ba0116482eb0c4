import Foundation
import Locking
package import StrataModel

/// Every model that a store has had, to find the layout of a row of any age.
///
/// Immutable; installing a model makes a new history.
package final class SchemaHistory: Sendable {
    /// The model under which rows are written; nil before the first model.
    package let newest: Schema?
    private let models: [ModelVersion: RecordedModel]
    /// Each is made when first needed. Guarded by its mutex.
    private let converters = Locked<[LayoutKey: RowConverter]>([:])

    private struct LayoutKey: Hashable {
        let entity: EntityID
        let version: ModelVersion
    }

    /// The newest layout of an entity, with the first bytes of each row in it.
    private struct NewestLayout: @unchecked Sendable {
        let header: UInt64
        /// Kept alive by `newest`.
        let layout: Unmanaged<RowLayout>
    }

    /// By entity number. Every row that is read looks here, so the layouts are not reference-counted.
    private let newestLayouts: [NewestLayout?]

    let names = GatheredNames()
    /// Filled when first needed. Guarded by its mutex.
    let mendings = Locked(PairMendings())
    /// Made when first needed. Guarded by its mutex.
    private let lineage = Locked<PropertyLineage?>(nil)

    /// By version, those that were asked for. Guarded by its mutex.
    private let replacements = Locked<[ModelVersion: ModelVersion?]>([:])
    /// Each is made when first needed. Guarded by its mutex.
    private let pasts = Locked<[ModelVersion: SchemaHistory]>([:])
    /// Whether the store has a newer model than `newest` with other rows or without a view of it; then rows written under
    /// it are converted back.
    package let isPast: Bool

    package convenience init(_ schemas: [Schema]) {
        self.init(schemas.map(RecordedModel.init), newest: schemas.max { $0.version < $1.version }, isPast: false)
    }

    /// - Throws: `corrupt` if the record of the newest cannot be decoded; the others fail when they are needed.
    convenience init(recorded models: [RecordedModel]) throws(StrataError) {
        let newest = models.max { $0.version < $1.version }
        self.init(models, newest: try newest?.schema(), isPast: false)
    }

    private init(_ models: [RecordedModel], newest: Schema?, isPast: Bool) {
        self.newest = newest
        self.isPast = isPast
        self.models = Dictionary(models.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        var newestLayouts: [NewestLayout?] = []
        for entity in newest?.entities ?? [] {
            let number = Int(entity.id.rawValue)
            while newestLayouts.count <= number { newestLayouts.append(nil) }
            newestLayouts[number] = NewestLayout(
                header: entity.layout.header, layout: Unmanaged.passUnretained(entity.layout))
        }
        self.newestLayouts = newestLayouts
    }

    /// The versions of all models, oldest first.
    var versions: [ModelVersion] { models.keys.sorted() }

    /// Every model, oldest first; the first call decodes all of them.
    ///
    /// - Throws: `corrupt` if a record cannot be decoded.
    package var schemas: [Schema] {
        get throws(StrataError) { try schemas(versions) }
    }

    /// The models of these versions.
    ///
    /// - Throws: `corrupt` if a record cannot be decoded.
    func schemas(_ versions: [ModelVersion]) throws(StrataError) -> [Schema] {
        var schemas: [Schema] = []
        for version in versions { if let schema = try schema(version) { schemas.append(schema) } }
        return schemas
    }

    /// The models of these versions whose records can be decoded, for what can do without the others, such as names.
    func readableSchemas(_ versions: [ModelVersion]) -> [Schema] { versions.compactMap { try? schema($0) } }

    /// The numbers of properties that mean one property. A model whose record cannot be decoded is left out.
    package var propertyLineage: PropertyLineage {
        lineage.withLock { lineage in
            if let lineage { return lineage }
            let made = PropertyLineage(readableSchemas(versions))
            lineage = made
            return made
        }
    }

    /// Nil for a model that the store never had.
    ///
    /// - Throws: `corrupt` if its record cannot be decoded.
    package func schema(_ version: ModelVersion) throws(StrataError) -> Schema? { try models[version]?.schema() }

    /// The model of a record in the log. The store's own one, if that has been decoded from the same bytes: decoding
    /// takes longer than reading many events.
    ///
    /// - Throws: `corrupt` if it cannot be decoded.
    func schema(of record: Data, _ version: ModelVersion) throws(StrataError) -> Schema {
        if let known = models[version]?.decoded(from: record) { return known }
        return try SchemaRecord.schema(from: record)
    }

    /// The newest model that has an entity; nil if none has it.
    ///
    /// - Throws: `corrupt` if the record of a model cannot be decoded.
    package func lastSchema(with entity: EntityID) throws(StrataError) -> Schema? {
        if let newest, newest.entity(entity) != nil { return newest }
        for version in versions.reversed() {
            if let schema = try schema(version), schema.entity(entity) != nil { return schema }
        }
        return nil
    }

    /// The history with another model.
    package func adding(_ schema: Schema) -> SchemaHistory {
        let newest = newest.map { $0.version > schema.version ? $0 : schema } ?? schema
        return SchemaHistory(Array(models.values) + [RecordedModel(schema)], newest: newest, isPast: false)
    }

    /// The same history for reading through an older model; itself for the newest.
    package func through(_ version: ModelVersion) throws(StrataError) -> SchemaHistory {
        guard version != newest?.version, let schema = try schema(version) else { return self }
        let isReplaced = try replacement(of: version) != nil
        return pasts.withLock { pasts in
            if let known = pasts[version] { return known }
            let past = SchemaHistory(Array(models.values), newest: schema, isPast: isReplaced)
            pasts[version] = past
            return past
        }
    }

    /// The first model after one that does not extend it (`Schema.extends`); nil if all models since do.
    ///
    /// - Throws: `corrupt` if the record of one cannot be decoded.
    func replacement(of version: ModelVersion) throws(StrataError) -> ModelVersion? {
        if let known = replacements.withLock({ $0[version] }) { return known }
        var found: ModelVersion?
        if let older = try schema(version) {
            for later in versions where later > version {
                if try schema(later)?.extends(older) == true { continue }
                found = later
                break
            }
        }
        let replacement = found
        replacements.withLock { $0[version] = .some(replacement) }
        return replacement
    }

    /// Whether the newest model, and those between, only have views more than an older one.
    func extends(_ version: ModelVersion) throws(StrataError) -> Bool {
        guard let newest, version < newest.version, models[version] != nil else { return false }
        return try replacement(of: version) == nil
    }

    /// The image in the newest layout of its entity. Properties that the row is too old to hold have their first
    /// default.
    package func converted(
        _ image: UnsafeRawBufferPointer, from layout: RowLayout, to entity: EntitySchema
    ) throws -> RowImage {
        if layout === entity.layout { return RowImage(canonical: Array(image)) }
        let key = LayoutKey(entity: entity.id, version: layout.version)
        if let known = converters.withLock({ $0[key] }), known.target === entity.layout {
            return try known.convert(image)
        }
        let converter = try RowConverter(
            from: layout, to: entity.layout, bornDefaults: newest?.assignment.bornDefaults ?? [:])
        converters.withLock { $0[key] = converter }
        return try converter.convert(image)
    }

    /// The newest layout of the object's entity if the row image is in it, as nearly every row is. It lives as long as
    /// the history.
    @inline(__always)
    func newestLayout(of image: UnsafeRawBufferPointer, id: ObjectID) -> Unmanaged<RowLayout>? {
        let number = Int(truncatingIfNeeded: id.rawValue >> 48)
        guard number < newestLayouts.count, image.count >= RowLayout.headerSize, let known = newestLayouts[number],
            UInt64(littleEndian: image.loadUnaligned(as: UInt64.self)) == known.header
        else { return nil }
        return known.layout
    }

    /// The layout that the first bytes of a row image name.
    package func layout(of image: UnsafeRawBufferPointer, id: ObjectID) throws(CorruptRecord) -> RowLayout {
        guard image.count >= RowLayout.headerSize else { throw CorruptRecord("row shorter than its header", at: 0) }
        let version = UInt32(littleEndian: image.loadUnaligned(as: UInt32.self))
        let entity = UInt16(
            littleEndian: image.loadUnaligned(fromByteOffset: RowLayout.entityOffset, as: UInt16.self))
        guard entity == id.entityID.rawValue else { throw CorruptRecord("row of another entity", at: 4) }
        // Nearly every row is in the newest layout.
        if let newest, version == newest.version.rawValue, let entity = newest.entity(id.entityID) {
            return entity.layout
        }
        guard let entity = try olderModel(ModelVersion(rawValue: version))?.entity(id.entityID) else {
            throw CorruptRecord("row of a model this store never had", at: 0)
        }
        return entity.layout
    }

    private func olderModel(_ version: ModelVersion) throws(CorruptRecord) -> Schema? {
        guard let model = models[version] else { return nil }
        do {
            return try model.schema()
        } catch {
            throw CorruptRecord("row of a model whose record cannot be decoded; a rebuild restores it", at: 0)
        }
    }
}
