import StrataModel

/// The tables of a file for a model, named as Core Data names them.
struct ExportTables {
    struct Entity {
        let number: Int
        let name: String
        /// 0 for none.
        let parent: Int
    }

    /// Parents before their subentities, each level in alphabetical order.
    private(set) var entities: [Entity] = []
    /// The statements that make the tables.
    private(set) var statements: [String] = []
    private let model: ManagedObjectModel
    private var numbers: [String: Int] = [:]
    /// By root entity: the columns that targets of a to-one add in its table.
    private var columns: [String: [String]] = [:]

    /// - Parameter wideDecimals: the names of decimals with values that no `Double` holds, as `Entity.attribute`.
    /// - Throws: `invalidModel` for entities whose names differ in case alone, which would have one table.
    init(_ model: ManagedObjectModel, wideDecimals: Set<String>) throws(StrataError) {
        self.model = model
        let roots = model.entities.filter { $0.superentityName == nil }
        for root in Self.alphabetical(roots) { add(root, parent: 0) }
        let names = Dictionary(grouping: roots, by: { $0.name.uppercased() })
        if let same = names.values.first(where: { $0.count > 1 }) {
            throw StrataError(
                .invalidModel,
                "\(same[0].name) and \(same[1].name) differ in case alone; a file of Core Data has one table for both.",
                context: .init(entityName: same[0].name))
        }
        for root in roots { columns[root.name] = attributesAndToOnes(of: root, wideDecimals) }
        for entity in model.entities { addLinks(of: entity) }
        for root in Self.alphabetical(roots) {
            let list = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + (columns[root.name] ?? [])
            statements.insert(
                "CREATE TABLE \(SQLiteDatabase.quoted("Z" + root.name.uppercased())) (\(list.joined(separator: ", ")))",
                at: 0)
        }
    }

    private mutating func add(_ entity: EntityDescription, parent: Int) {
        let number = entities.count + 1
        numbers[entity.name] = number
        entities.append(Entity(number: number, name: entity.name, parent: parent))
        let children = model.entities.filter { $0.superentityName == entity.name }
        for child in Self.alphabetical(children) { add(child, parent: number) }
    }

    /// Without regard to case.
    private static func alphabetical(_ entities: [EntityDescription]) -> [EntityDescription] {
        entities.sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }

    private func number(_ entity: String) -> Int { numbers[entity] ?? 0 }
    private func root(of entity: String) -> String { model.hierarchy.chain(of: entity).first?.name ?? entity }

    // MARK: Columns

    /// A property of which another in the hierarchy has the name gets a number behind its own, as do the elements of
    /// composites, in whose place they are.
    private func attributesAndToOnes(of root: EntityDescription, _ wideDecimals: Set<String>) -> [String] {
        var (taken, columns): (Set<String>, [String]) = ([], [])
        func add(_ name: String, _ type: String) -> String {
            let first = "Z\(name.uppercased())"
            var (column, number) = (first, 0)
            while !taken.insert(column).inserted {
                number += 1
                column = "\(first)\(number)"
            }
            columns.append("\(SQLiteDatabase.quoted(column)) \(type)")
            return column
        }
        func addElements(of attribute: AttributeDescription) {
            for element in attribute.elements {
                if element.type == .composite {
                    addElements(of: element)
                } else {
                    _ = add(element.name, Self.type(of: element.type))
                }
            }
        }
        let family = [root] + model.hierarchy.subentities(of: root.name).sorted { number($0.name) < number($1.name) }
        for entity in family {
            let properties = entity.properties.sorted { $0.name.uppercased() < $1.name.uppercased() }
            for property in properties where !property.isTransient {
                switch property {
                case .attribute(let attribute) where attribute.type == .composite:
                    addElements(of: attribute)
                case .attribute(let attribute):
                    let isWide = wideDecimals.contains("\(entity.name).\(attribute.name)")
                    _ = add(attribute.name, isWide ? "VARCHAR" : Self.type(of: attribute.type))
                case .relationship(let relationship):
                    guard !relationship.isToMany else { continue }
                    let column = add(relationship.name, "INTEGER")
                    if !model.hierarchy.subentities(of: relationship.destinationEntityName).isEmpty {
                        let target = number(relationship.destinationEntityName)
                        columns.append("\(SQLiteDatabase.quoted("Z\(target)_\(column.dropFirst())")) INTEGER")
                    }
                    if model.hierarchy.inverse(of: relationship)?.property.relationship?.isOrdered == true {
                        columns.append("\(SQLiteDatabase.quoted("Z_FOK_\(column.dropFirst())")) INTEGER")
                    }
                }
            }
        }
        return columns
    }

    private static func type(of type: AttributeType) -> String {
        switch type {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .double, .float: "FLOAT"
        case .decimal: "DECIMAL"
        case .date: "TIMESTAMP"
        case .string, .uri: "VARCHAR"
        case .binaryData, .transformable, .uuid, .undefined, .objectID, .composite: "BLOB"
        }
    }

    // MARK: Links

    private mutating func addLinks(of entity: EntityDescription) {
        for case .relationship(let relationship) in entity.properties
        where relationship.isToMany && !relationship.isTransient {
            let name = "\(number(entity.name))\(relationship.name.uppercased())"
            guard let inverse = model.hierarchy.inverse(of: relationship) else {
                let order = relationship.isOrdered ? [SQLiteDatabase.quoted("Z_FOK_\(name)") + " INTEGER"] : []
                columns[root(of: relationship.destinationEntityName), default: []] +=
                    [SQLiteDatabase.quoted("Z\(name)") + " INTEGER"] + order
                continue
            }
            guard let back = inverse.property.relationship, back.isToMany else { continue }
            // One of the two ends names the table: the entity that comes first, or in one entity the name that comes last.
            let isFirst =
                inverse.entityName == entity.name
                ? relationship.name.lowercased() >= back.name.lowercased()
                : number(entity.name) < number(inverse.entityName)
            if isFirst { addJoin(entity.name, relationship, inverse.entityName, back) }
        }
    }

    /// The column of a key names the relationship that leads to it.
    private mutating func addJoin(
        _ owner: String, _ relationship: RelationshipDescription, _ other: String, _ back: RelationshipDescription
    ) {
        let member = "\(number(other))\(relationship.name.uppercased())"
        var here = "\(number(owner))\(back.name.uppercased())"
        if here == member { here += "1" }
        let isReflexive = owner == other && relationship.name == back.name
        let ownerColumn = isReflexive ? "REFLEXIVE" : "Z_\(here)"
        var list = ["\(SQLiteDatabase.quoted("Z_\(member)")) INTEGER", "\(SQLiteDatabase.quoted(ownerColumn)) INTEGER"]
        if relationship.isOrdered { list.append("\(SQLiteDatabase.quoted("Z_FOK_\(member)")) INTEGER") }
        if back.isOrdered, !isReflexive { list.append("\(SQLiteDatabase.quoted("Z_FOK_\(here)")) INTEGER") }
        let key = "PRIMARY KEY (\(SQLiteDatabase.quoted("Z_\(member)")), \(SQLiteDatabase.quoted(ownerColumn)))"
        let table = SQLiteDatabase.quoted("Z_\(number(owner))\(relationship.name.uppercased())")
        statements.append("CREATE TABLE \(table) (\((list + [key]).joined(separator: ", ")))")
    }
}
