import StrataModel

/// The tables and columns of a file that hold each property of the model.
struct FilePlan {
    /// The table of a root entity, which has the rows of its subentities too.
    struct RootTable {
        let name: String
        let rootName: String
        /// The entities by their numbers in the file.
        var entityNames: [Int64: String] = [:]
        /// The columns that are read, behind the key and the entity's number.
        var columns: [String] = []
        /// By the entity's name, inherited ones too.
        var properties: [String: [Property]] = [:]
    }

    /// A property and its column, an index of `columns`.
    struct Property {
        enum Kind {
            case attribute(AttributeDescription, column: Int)
            /// The elements with their columns; some are composites themselves.
            case composite(AttributeDescription, [Property])
            /// The index of the target's table, and the column of the position.
            case toOne(RelationshipDescription, column: Int, table: Int, order: Int?)
        }
        let name: String
        let kind: Kind
    }

    /// The links of a to-many that no single to-one holds: of a table of pairs, or of keys in the members' rows.
    struct PairTable {
        let entityName: String
        let relationship: RelationshipDescription
        let table: String
        /// The columns of the owner's and the member's keys.
        let owner: String
        let member: String
        /// The columns of the members' order, and of the owners' order as seen from a member.
        let memberOrder: String?
        let ownerOrder: String?
        /// Indexes of `tables`.
        let ownerTable: Int
        let memberTable: Int

        /// Whether the relationship is its own inverse.
        var isReflexive: Bool {
            relationship.inverseName == relationship.name && relationship.destinationEntityName == entityName
        }
    }

    var tables: [RootTable] = []
    var pairs: [PairTable] = []
    /// The properties that have no column, a phrase each.
    var notes: [String] = []

    init(_ file: CoreDataFile) {
        var builder = FilePlanBuilder(file)
        builder.run()
        self = builder.plan
        putInOrder()
    }

    init() {}

    /// Tables whose rows lead to others come after them, as far as there is no cycle.
    private mutating func putInOrder() {
        var targets = tables.map { table in
            Set(
                table.properties.values.joined().compactMap { property -> Int? in
                    if case .toOne(_, _, let target, _) = property.kind { target } else { nil }
                })
        }
        for index in targets.indices { targets[index].remove(index) }
        var order: [Int] = []
        var left = Array(tables.indices)
        while !left.isEmpty {
            // In a cycle, the table that leads to the fewest others begins.
            let next =
                left.min { first, second in
                    (targets[first].subtracting(order).count, first) < (
                        targets[second].subtracting(order).count, second
                    )
                } ?? left[0]
            order.append(next)
            left.removeAll { $0 == next }
        }
        var places = [Int](repeating: 0, count: order.count)
        for (place, index) in order.enumerated() { places[index] = place }
        tables = order.map { tables[$0].moved(places) }
        pairs = pairs.map { pair in
            PairTable(
                entityName: pair.entityName, relationship: pair.relationship, table: pair.table, owner: pair.owner,
                member: pair.member, memberOrder: pair.memberOrder, ownerOrder: pair.ownerOrder,
                ownerTable: places[pair.ownerTable], memberTable: places[pair.memberTable])
        }
    }
}

extension FilePlan.RootTable {
    fileprivate func moved(_ places: [Int]) -> FilePlan.RootTable {
        var copy = self
        copy.properties = properties.mapValues { list in
            list.map { property in
                guard case .toOne(let relationship, let column, let table, let order) = property.kind else {
                    return property
                }
                return FilePlan.Property(
                    name: property.name,
                    kind: .toOne(relationship, column: column, table: places[table], order: order))
            }
        }
        return copy
    }

    /// Whether all its rows are of one entity, because the others are abstract.
    func isOfOneEntity(in model: ManagedObjectModel) -> Bool {
        entityNames.values.filter { model.entitiesByName[$0]?.isAbstract == false }.count == 1
    }

    /// The rows by their keys, from behind a key on.
    var query: String { "\(selection) WHERE Z_PK > ?1 ORDER BY Z_PK" }

    /// The row with a key.
    var rowQuery: String { "\(selection) WHERE Z_PK = ?1" }

    private var selection: String {
        let list = (["Z_PK", "Z_ENT"] + columns).map(SQLiteDatabase.quoted).joined(separator: ", ")
        return "SELECT \(list) FROM \(SQLiteDatabase.quoted(name))"
    }
}
