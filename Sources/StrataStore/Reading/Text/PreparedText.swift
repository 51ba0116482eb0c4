// The full texts of a model, bound to its schema.

import StrataModel

/// The full texts of one model, prepared once.
final class TextMap: Sendable {
    let texts: [PreparedText]
    private let ofEntities: EntityTable<PreparedText?>

    /// - Throws: `invalidModel` for a full text that cannot be kept; the check of a model refuses it before.
    init(_ schema: Schema) throws(StrataError) {
        var texts: [PreparedText] = []
        var ofEntities: [EntityID: PreparedText?] = [:]
        for entity in schema.entities where !entity.description.fullText.isEmpty {
            let text = try PreparedText(entity, schema)
            texts.append(text)
            for concrete in text.entities { ofEntities[concrete] = text }
        }
        self.texts = texts
        self.ofEntities = EntityTable(ofEntities, otherwise: nil)
    }

    /// The full text in which objects of exactly this entity are.
    func text(of entity: EntityID) -> PreparedText? { ofEntities[entity] }

    /// The full text that an entity declares or inherits.
    func text(of entity: EntitySchema, _ schema: Schema) -> PreparedText? {
        var current: EntitySchema? = entity
        while let declaring = current {
            if let text = texts.first(where: { $0.entity == declaring.id }) { return text }
            current = declaring.superentityID.flatMap(schema.entity)
        }
        return nil
    }
}

/// A full text bound to a schema.
final class PreparedText: Sendable {
    let id: ViewID
    /// The entity that declares it.
    let entity: EntityID
    let entityName: String
    /// The concrete entities whose objects are in it.
    let entities: [EntityID]
    /// The attributes, which are the columns of positions.
    let names: [String]
    let slots: [Int]
    private let properties: [PropertyID]

    init(_ entity: EntitySchema, _ schema: Schema) throws(StrataError) {
        self.entity = entity.id
        entityName = entity.name
        entities = entity.concreteEntityIDs
        names = entity.description.fullText
        guard let id = schema.assignment.texts[entity.name] else { throw Self.refusal(entity.name) }
        self.id = id
        var slots: [Int] = []
        var properties: [PropertyID] = []
        for name in names {
            guard let property = entity.property(named: name), property.storage != nil,
                SlotKind(property.storage, allowsExternalStorage: false) == .string
            else { throw Self.refusal(entity.name) }
            slots.append(property.slot)
            properties.append(property.id)
        }
        self.slots = slots
        self.properties = properties
    }

    private static func refusal(_ name: String) -> StrataError {
        StrataError(
            .invalidModel, "The full text of \(name) is over something that has no words.",
            context: .init(entityName: name))
    }

    /// The context of errors about the text.
    var context: StrataError.Context { .init(entityName: entityName, key: "fullText") }

    /// Whether the change of these properties of an object can change its words.
    func isTouched(by changed: [PropertyID]) -> Bool { properties.contains(where: changed.contains) }

    /// Calls `body` with the number and the bytes of each attribute that has a value.
    @inline(__always)
    func forEachColumn(
        _ row: RowReader, _ body: (Int, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        for (column, slot) in slots.enumerated() {
            guard let bytes = try row.bytes(slot) else { continue }
            try bytes.withMemoryRebound(to: UInt8.self) { try body(column, $0) }
        }
    }

    /// Whether both rows have the same texts.
    func isSame(_ left: RowReader, _ right: RowReader) throws -> Bool {
        for slot in slots {
            let (left, right) = (try left.bytes(slot), try right.bytes(slot))
            guard let left, let right else {
                if left == nil, right == nil { continue }
                return false
            }
            if !left.isSame(as: right) { return false }
        }
        return true
    }

    /// The numbers of the attributes in which each phrase of a query is sought; nil for all.
    ///
    /// - Parameter only: the attribute to which the whole query is limited.
    /// - Throws: `unknownKey` with the nearest name.
    func columns(of query: FullTextQuery, only: String?) throws(StrataError) -> [[Int]?] {
        var result: [[Int]?] = []
        for phrase in query.phrases {
            guard let wanted = phrase.columns else {
                result.append(try only.map { (name) throws(StrataError) in [try column(name)] })
                continue
            }
            var list: [Int] = []
            for name in wanted {
                let column = try column(name)
                if only == nil || only == name { list.append(column) }
            }
            result.append(list)
        }
        return result
    }

    func column(_ name: String) throws(StrataError) -> Int {
        if let column = names.firstIndex(of: name) { return column }
        throw StrataError(
            .unknownKey,
            "The full text of \(entityName) has no attribute \(name)\(NearestName.ending(for: name, among: names))",
            context: .init(entityName: entityName, key: name))
    }
}
