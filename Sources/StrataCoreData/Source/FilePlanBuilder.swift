import StrataModel

/// Finds the columns of a model's properties.
///
/// A property's column is `Z` and its name in capitals; a number follows if another property of the hierarchy has that
/// name already, in the order of the entities' numbers, and of the names in an entity. The elements of a composite have
/// columns in its place, each with its own name alone.
struct FilePlanBuilder {
    private let file: CoreDataFile
    private(set) var plan = FilePlan()
    private let numbers: [String: Int64]
    private var tableOfRoot: [String: Int] = [:]
    /// The column of each property, by `Entity.property`, or `Entity.composite.element`.
    private var claims: [String: String] = [:]
    private static let suffixes = [""] + (1...64).map { String($0) }

    init(_ file: CoreDataFile) {
        self.file = file
        var numbers = Dictionary(file.entities.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        // The rows of a renamed entity may still be under its former name.
        for entity in file.model.entities where numbers[entity.name] == nil {
            guard let former = file.formerNames[entity.name] ?? entity.renamingIdentifier,
                file.model.entitiesByName[former] == nil
            else { continue }
            numbers[entity.name] = numbers[former]
        }
        self.numbers = numbers
    }

    private var hierarchy: EntityHierarchy { file.model.hierarchy }

    mutating func run() {
        let roots = file.model.entities.filter { $0.superentityName == nil }
        for root in roots {
            guard let table = file.table(of: root.name), table.has("Z_PK") else {
                if numbers[root.name] == nil { plan.notes.append("\(root.name): the file has no table for it") }
                continue
            }
            tableOfRoot[root.name] = plan.tables.count
            plan.tables.append(FilePlan.RootTable(name: table.name, rootName: root.name))
            claim(root, table)
        }
        for root in roots where tableOfRoot[root.name] != nil { addColumns(of: root) }
        for entity in file.model.entities { addPairs(of: entity) }
        let known = Set(file.model.entities.compactMap { numbers[$0.name] })
        for entity in file.entities where !known.contains(entity.number) {
            plan.notes.append("\(entity.name): the model lacks this entity of the file; its objects are left out")
        }
    }

    private func rootName(of entity: String) -> String { hierarchy.chain(of: entity).first?.name ?? entity }

    /// The entity and its subentities, in the order of their numbers.
    private func family(of root: EntityDescription) -> [EntityDescription] {
        let members = [root] + hierarchy.subentities(of: root.name)
        return [root]
            + members.dropFirst().sorted { (numbers[$0.name] ?? .max, $0.name) < (numbers[$1.name] ?? .max, $1.name) }
    }

    private func columnName(_ property: String, of entity: String) -> String {
        (file.formerNames["\(entity).\(property)"] ?? property).uppercased()
    }

    // MARK: Columns of rows

    private mutating func claim(_ root: EntityDescription, _ table: FileTable) {
        var taken: Set<String> = []
        func column(_ name: String) -> String? {
            for suffix in Self.suffixes where table.has(name + suffix) {
                if taken.insert(name + suffix).inserted { return name + suffix }
            }
            return nil
        }
        func claimElements(of attribute: AttributeDescription, _ key: String) {
            for element in attribute.elements {
                let elementKey = "\(key).\(element.name)"
                if element.type == .composite {
                    claimElements(of: element, elementKey)
                } else {
                    claim(elementKey, (file.formerNames[elementKey] ?? element.name).uppercased())
                }
            }
        }
        func claim(_ key: String, _ name: String) {
            claims[key] = column("Z\(name)")
            if claims[key] == nil { plan.notes.append("\(key): the file has no column for it") }
        }
        for entity in family(of: root) {
            let properties = entity.properties.map { (columnName($0.name, of: entity.name), $0) }
            for (name, property) in properties.sorted(by: { $0.0 < $1.0 }) where !property.isTransient {
                let key = "\(entity.name).\(property.name)"
                if let attribute = property.attribute, attribute.type == .composite {
                    claimElements(of: attribute, key)
                } else if property.relationship?.isToMany != true {
                    claim(key, name)
                }
            }
        }
    }

    private mutating func addColumns(of root: EntityDescription) {
        guard let index = tableOfRoot[root.name], let table = file.table(of: root.name) else { return }
        var places: [String: Int] = [:]
        func place(_ column: String) -> Int {
            if let known = places[column] { return known }
            places[column] = plan.tables[index].columns.count + 2
            plan.tables[index].columns.append(column)
            return places[column] ?? 0
        }
        func elements(of attribute: AttributeDescription, _ key: String) -> [FilePlan.Property] {
            attribute.elements.compactMap { element in
                let elementKey = "\(key).\(element.name)"
                if element.type == .composite {
                    return FilePlan.Property(
                        name: element.name, kind: .composite(element, elements(of: element, elementKey)))
                }
                return claims[elementKey].map { column in
                    FilePlan.Property(name: element.name, kind: .attribute(element, column: place(column)))
                }
            }
        }
        for entity in family(of: root) {
            if let number = numbers[entity.name] { plan.tables[index].entityNames[number] = entity.name }
            var list: [FilePlan.Property] = []
            for (key, property) in declared(entity) where !property.isTransient {
                switch property {
                case .attribute(let attribute) where attribute.type == .composite:
                    list.append(
                        FilePlan.Property(
                            name: property.name, kind: .composite(attribute, elements(of: attribute, key))))
                case .attribute(let attribute):
                    guard let column = claims[key] else { continue }
                    list.append(
                        FilePlan.Property(name: property.name, kind: .attribute(attribute, column: place(column))))
                case .relationship(let relationship):
                    guard !relationship.isToMany, let column = claims[key],
                        let target = tableOfRoot[rootName(of: relationship.destinationEntityName)]
                    else { continue }
                    let order = "Z_FOK_\(column.dropFirst())"
                    if !table.has(order), hierarchy.inverse(of: relationship)?.property.relationship?.isOrdered == true
                    {
                        noteMissingOrder(key)
                    }
                    list.append(
                        FilePlan.Property(
                            name: property.name,
                            kind: .toOne(
                                relationship, column: place(column), table: target,
                                order: table.has(order) ? place(order) : nil)))
                }
            }
            plan.tables[index].properties[entity.name] = list
        }
    }

    private mutating func noteMissingOrder(_ key: String) {
        let note = "\(key): the file has no column for its place in the list; the list is in no order"
        if !plan.notes.contains(note) { plan.notes.append(note) }
    }

    /// The properties of an entity, inherited ones first, with the keys of `claims`.
    private func declared(_ entity: EntityDescription) -> [(String, PropertyDescription)] {
        hierarchy.declarations(of: entity.name).map { ("\($0.entityName).\($0.property.name)", $0.property) }
    }

    // MARK: Pairs

    private mutating func addPairs(of entity: EntityDescription) {
        for case .relationship(let relationship) in entity.properties
        where relationship.isToMany && !relationship.isTransient {
            let inverse = relationship.inverseName.flatMap {
                hierarchy.declaration(of: $0, in: relationship.destinationEntityName)
            }
            let key = "\(entity.name).\(relationship.name)"
            if let back = inverse?.property.relationship {
                // A to-one at the other end has the links, and of two to-manys one is enough.
                guard back.isToMany, let inverse,
                    !plan.pairs.contains(where: {
                        $0.entityName == inverse.entityName && $0.relationship.name == back.name
                    })
                else { continue }
                if !addJoin(entity, relationship, inverse.entityName, back) {
                    plan.notes.append("\(key): the file has no table for its links")
                }
            } else if !addOneWay(entity, relationship) {
                plan.notes.append("\(key): the file has no column for its links")
            }
        }
    }

    private mutating func addJoin(
        _ entity: EntityDescription, _ relationship: RelationshipDescription, _ otherName: String,
        _ back: RelationshipDescription
    ) -> Bool {
        guard let owners = tableOfRoot[rootName(of: entity.name)], let members = tableOfRoot[rootName(of: otherName)],
            let number = numbers[entity.name], let otherNumber = numbers[otherName]
        else { return false }
        let (there, here) = (columnName(relationship.name, of: entity.name), columnName(back.name, of: otherName))
        for name in ["Z_\(number)\(there)", "Z_\(otherNumber)\(here)"] {
            guard let table = file.tables[name] else { continue }
            let isSymmetric = entity.name == otherName && relationship.name == back.name
            let keys = table.columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
            func column(_ number: Int64, _ name: String, besides other: String?) -> String? {
                keys.first { $0 == "Z_\(number)\(name)" && $0 != other }
                    ?? keys.first { key in
                        guard let column = JoinColumn(key), key != other, column.number == number else { return false }
                        return column.name.hasPrefix(name) && column.name.dropFirst(name.count).allSatisfy(\.isNumber)
                    }
            }
            guard keys.count == 2, let member = column(otherNumber, there, besides: nil),
                let owner = isSymmetric
                    ? keys.first(where: { $0 != member }) : column(number, here, besides: member)
            else { continue }
            func order(_ column: String) -> String? {
                let name = "Z_FOK_\(column.dropFirst(2))"
                return table.has(name) ? name : nil
            }
            plan.pairs.append(
                FilePlan.PairTable(
                    entityName: entity.name, relationship: relationship, table: table.name, owner: owner,
                    member: member, memberOrder: order(member), ownerOrder: order(owner), ownerTable: owners,
                    memberTable: members))
            return true
        }
        return false
    }

    /// The links of a to-many without inverse are keys in the members' rows.
    private mutating func addOneWay(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> Bool {
        let memberRoot = rootName(of: relationship.destinationEntityName)
        guard let owners = tableOfRoot[rootName(of: entity.name)], let members = tableOfRoot[memberRoot],
            let number = numbers[entity.name], let table = file.table(of: memberRoot)
        else { return false }
        let name = columnName(relationship.name, of: entity.name)
        guard let owner = ["Z\(number)\(name)", "Z_\(number)\(name)"].first(where: table.has) else { return false }
        let order = "Z_FOK_\(number)\(name)"
        plan.pairs.append(
            FilePlan.PairTable(
                entityName: entity.name, relationship: relationship, table: table.name, owner: owner, member: "Z_PK",
                memberOrder: table.has(order) ? order : nil, ownerOrder: nil, ownerTable: owners, memberTable: members))
        return true
    }
}
