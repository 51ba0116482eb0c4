import Locking
import StrataModel

/// The indexes of one model, prepared once: how rows become entries of the `indexes` table, and how conditions become
/// ranges of it.
final class IndexMap: Sendable {
    /// One index, ready to make keys.
    final class PreparedIndex: Sendable {
        let index: IndexSchema
        let codec: IndexKeyCodec
        /// The concrete entities whose rows it contains.
        let declaredEntities: [EntityID]
        /// Only rows that meet this condition are entered; nil for all rows.
        let partial: (any RowCondition)?
        /// The same condition as the planner matches it with those of a request.
        let conditions: [CompiledCondition]

        init(
            index: IndexSchema, codec: IndexKeyCodec, declaredEntities: [EntityID], partial: (any RowCondition)?,
            conditions: [CompiledCondition]
        ) {
            self.index = index
            self.codec = codec
            self.declaredEntities = declaredEntities
            self.partial = partial
            self.conditions = conditions
        }
    }

    private struct ConverterKey: Hashable {
        let entity: EntityID
        let version: ModelVersion
    }

    let schema: Schema
    /// The declared views.
    private let declaredViews: Result<ViewMap, StrataError>
    private let declaredTexts: Result<TextMap, StrataError>
    private let prepared: [IndexID: Result<PreparedIndex, StrataError>]
    private let ofEntities: EntityTable<Result<[PreparedIndex], StrataError>>
    /// From older layouts; each is made when first needed. Guarded by its mutex.
    private let converters = Locked<[ConverterKey: RowConverter]>([:])

    init(_ schema: Schema) {
        self.schema = schema
        var prepared: [IndexID: Result<PreparedIndex, StrataError>] = [:]
        for index in schema.indexes { prepared[index.id] = Self.prepare(index, schema) }
        self.prepared = prepared
        declaredViews = Result { () throws(StrataError) in try ViewMap(schema) }
        declaredTexts = Result { () throws(StrataError) in try TextMap(schema) }
        var ofEntities: [EntityID: Result<[PreparedIndex], StrataError>] = [:]
        for entity in schema.entities {
            ofEntities[entity.id] = Result { () throws(StrataError) in
                var list: [PreparedIndex] = []
                for index in entity.indexes { list.append(try Self.found(index.id, prepared)) }
                return list
            }
        }
        self.ofEntities = EntityTable(ofEntities, otherwise: .success([]))
    }

    /// The map of a schema. Those of the last few schemas are kept.
    static func of(_ schema: Schema) -> IndexMap {
        recent.withLock { recent in
            if let known = recent.first, known.schema === schema { return known }
            let known = recent.firstIndex { $0.schema === schema }.map { recent.remove(at: $0) }
            let plan = known ?? IndexMap(schema)
            recent.insert(plan, at: 0)
            if recent.count > 16 { recent.removeLast() }
            return plan
        }
    }

    private static let recent = Locked<[IndexMap]>([])

    private static func prepare(_ index: IndexSchema, _ schema: Schema) -> Result<PreparedIndex, StrataError> {
        guard let entity = schema.entity(index.entityID),
            let codec = IndexKeyCodec(index, properties: entity.properties)
        else {
            return .failure(
                StrataError(.invalidModel, "The index \(index.name) is over something that cannot be ordered."))
        }
        guard let predicate = index.partialPredicate else {
            return .success(
                PreparedIndex(
                    index: index, codec: codec, declaredEntities: entity.concreteEntityIDs, partial: nil,
                    conditions: []))
        }
        do throws(StrataError) {
            let conditions = try PredicateCompiler(entity: entity, schema: schema).conjuncts(of: predicate)
            return .success(
                PreparedIndex(
                    index: index, codec: codec, declaredEntities: entity.concreteEntityIDs,
                    partial: JunctionCondition(.and, conditions), conditions: conditions))
        } catch {
            return .failure(error)
        }
    }

    func index(_ id: IndexID) throws(StrataError) -> PreparedIndex { try Self.found(id, prepared) }

    /// The indexes that contain an object of the entity, in the entity's order.
    func indexes(of entity: EntityID) throws(StrataError) -> [PreparedIndex] { try ofEntities[entity].get() }

    /// The declared views of the model.
    var views: ViewMap { get throws(StrataError) { try declaredViews.get() } }

    /// The full texts of the model.
    var texts: TextMap { get throws(StrataError) { try declaredTexts.get() } }

    private static func found(
        _ id: IndexID, _ prepared: [IndexID: Result<PreparedIndex, StrataError>]
    ) throws(StrataError) -> PreparedIndex {
        guard let found = prepared[id] else {
            throw StrataError(.invalidModel, "The model has no index with the number \(id.rawValue).")
        }
        return try found.get()
    }

    /// Calls `body` with the row converted to the newest layout of its entity. Properties that the row is too old to
    /// hold have their first default.
    func withNewestRow<R>(
        _ row: RowReader, _ layout: RowLayout, _ entity: EntitySchema, _ body: (RowReader) throws -> R
    ) throws -> R {
        if layout === entity.layout { return try body(row) }
        let key = ConverterKey(entity: entity.id, version: layout.version)
        var converter = converters.withLock { $0[key] }
        if converter?.source !== layout || converter?.target !== entity.layout {
            let made = try RowConverter(
                from: layout, to: entity.layout, bornDefaults: schema.assignment.bornDefaults)
            converters.withLock { $0[key] = made }
            converter = made
        }
        guard let converter else { return try body(row) }
        let image = try converter.convert(UnsafeRawBufferPointer(start: row.base, count: row.count))
        return try withExtendedLifetime(image) {
            try body(try RowReader(image.unsafeBytes, layout: entity.layout))
        }
    }
}
