// Transformables at an import: whether they are unpacked into `Codable` values, and which can be.

import StrataModel

/// The form that an import gives to transformables.
public enum CoreDataTransformables: String, Sendable, Hashable, CaseIterable {
    /// The archived bytes as they are, with the name of the transformer.
    case bytes
    /// A value that Strata's standard transformer reads, for an attribute whose archives are all of plain Foundation
    /// objects: text, numbers, dates, data, URLs, UUIDs, lists, sets (as lists), dictionaries, and colours (as
    /// components). An attribute with any other archive keeps its bytes.
    case codable
}

/// The transformables that are unpacked.
struct TransformableUnpacking {
    /// A column of a table.
    struct Place: Hashable {
        let table: Int
        let column: Int
    }

    private(set) var places: Set<Place> = []
    /// By entity; the attributes that it declares itself.
    private var names: [String: Set<String>] = [:]
    private(set) var notes: [String] = []

    init() {}

    /// Reads every value of every transformable.
    init(_ file: CoreDataFile, _ plan: FilePlan) throws(StrataError) {
        for entity in file.model.entities {
            for case .attribute(let attribute) in entity.properties
            where attribute.type == .transformable && !attribute.isTransient && attribute.derivationExpression == nil {
                guard let place = Self.place(of: attribute.name, entity.name, plan) else { continue }
                let key = "\(entity.name).\(attribute.name)"
                if let row = try Self.firstOther(place, entity.name, file, plan) {
                    notes.append("\(key): it keeps its bytes, because those of the row \(row) are of other classes")
                } else {
                    places.insert(place)
                    names[entity.name, default: []].insert(attribute.name)
                    notes.append("\(key): its archives are unpacked")
                }
            }
        }
    }

    private static func place(of name: String, _ entity: String, _ plan: FilePlan) -> Place? {
        for (index, table) in plan.tables.enumerated() {
            for property in table.properties[entity] ?? [] where property.name == name {
                if case .attribute(_, let column) = property.kind { return Place(table: index, column: column) }
            }
        }
        return nil
    }

    /// The key of a row whose archive is of other objects; nil if there is none.
    private static func firstOther(
        _ place: Place, _ entity: String, _ file: CoreDataFile, _ plan: FilePlan
    ) throws(StrataError) -> Int64? {
        let table = plan.tables[place.table]
        let column = SQLiteDatabase.quoted(table.columns[place.column - 2])
        let numbers = table.entityNames.filter { file.model.hierarchy.isKind($0.value, of: entity) }.keys.sorted()
        let rows = try file.database.prepare(
            "SELECT Z_PK, \(column) FROM \(SQLiteDatabase.quoted(table.name)) WHERE \(column) IS NOT NULL AND Z_ENT IN "
                + "(\(numbers.map(String.init).joined(separator: ", ")))")
        while try file.database.reading(
            valuesTo: ColumnReader.mostBytesInRow, { () throws(StrataError) in try rows.step() })
        {
            guard rows.kind(1) == .blob, PlainArchive.value(of: Array(rows.bytes(1))) != nil else {
                return rows.integer(0)
            }
        }
        return nil
    }

    /// The model, in which attributes that are unpacked have Strata's standard transformer.
    func model(of model: ManagedObjectModel) throws(StrataError) -> ManagedObjectModel {
        guard !names.isEmpty else { return model }
        return try model.replacing { entity in
            for index in entity.properties.indices {
                guard case .attribute(var attribute) = entity.properties[index],
                    names[entity.name]?.contains(attribute.name) == true
                else { continue }
                (attribute.valueTransformerName, attribute.attributeValueClassName) = (nil, nil)
                entity.properties[index] = .attribute(attribute)
            }
        }
    }
}

extension ManagedObjectModel {
    /// The model with changed entities, and all that is beside them.
    func replacing(_ change: (inout EntityDescription) -> Void) throws(StrataError) -> ManagedObjectModel {
        let entities = entities.map { entity in
            var entity = entity
            change(&entity)
            return entity
        }
        return try ManagedObjectModel(entities: entities).adding(
            fetchRequestTemplates: Array(fetchRequestTemplates.values), fetchedProperties: fetchedProperties,
            configurations: configurations, versionIdentifier: versionIdentifier, editorInfo: editorInfo)
    }
}
