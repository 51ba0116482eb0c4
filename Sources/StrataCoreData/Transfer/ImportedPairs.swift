import StrataModel
import StrataStore

/// Reads the links of one table of pairs.
struct ImportedPairs {
    private let layout: ImportLayout
    private let pair: FilePlan.PairTable
    private let statement: SQLiteStatement
    private let link: Link?
    private let owners: Set<EntityID>
    private let members: Set<EntityID>

    init(_ layout: ImportLayout, _ pair: FilePlan.PairTable, after row: Int64) throws(StrataError) {
        self.layout = layout
        self.pair = pair
        let columns =
            [pair.owner, pair.member].map(SQLiteDatabase.quoted)
            + [pair.memberOrder, pair.ownerOrder].map { $0.map(SQLiteDatabase.quoted) ?? "NULL" }
        let table = SQLiteDatabase.quoted(pair.table)
        // A member without an owner is in no pair; a row of a join table without a key is a fault.
        var condition = "rowid > ?1" + (pair.member == "Z_PK" ? " AND \(columns[0]) IS NOT NULL" : "")
        if pair.isReflexive {
            // The file may have the pair from either end, or from both.
            condition +=
                " AND (\(columns[0]) <= \(columns[1]) OR \(columns[0]) IS NULL OR NOT EXISTS (SELECT 1 FROM \(table) o "
                + "WHERE o.\(columns[0]) = p.\(columns[1]) AND o.\(columns[1]) = p.\(columns[0])))"
        }
        statement = try layout.file.database.prepare(
            "SELECT rowid, \(columns.joined(separator: ", ")) FROM \(table) p WHERE \(condition) ORDER BY rowid")
        statement.restart(row)
        let entity = layout.schema.entity(named: pair.entityName)
        let property = entity?.property(named: pair.relationship.name)
        link = property.flatMap { layout.schema.links.link($0.id) }
        owners = Set(entity?.entityIDs ?? [])
        members = Set(layout.schema.entity(named: pair.relationship.destinationEntityName)?.entityIDs ?? [])
    }

    /// The next link and the number of its row; nil at the end.
    func next(_ faults: inout FaultList) throws -> (row: Int64, change: ChangeSet.PairChange)? {
        while try statement.step() {
            let (ownerKey, memberKey) = (statement.integer(1), statement.integer(2))
            guard !statement.isNull(1), !statement.isNull(2) else {
                faults.add(
                    CoreDataFault(
                        kind: .danglingKey, entityName: pair.entityName, key: nil, property: pair.relationship.name,
                        sentence: "has a link without a key, in the row \(statement.integer(0)) of \(pair.table)"))
                continue
            }
            guard let link, let owner = layout.keys[pair.ownerTable].objectID(ownerKey),
                let member = layout.keys[pair.memberTable].objectID(memberKey), owners.contains(owner.entityID),
                members.contains(member.entityID), let key = link.pairKey(owner: owner, member: member)
            else {
                faults.add(
                    CoreDataFault(
                        kind: .danglingKey, entityName: pair.entityName, key: ownerKey,
                        property: pair.relationship.name,
                        sentence: "has a link to the key \(memberKey), and one of the two objects does not exist"))
                continue
            }
            for column in [3, 4] where isOrdered(column) && !ImportLayout.isPlace(statement, column) {
                faults.add(
                    CoreDataFault(
                        kind: .unsoundValue, entityName: pair.entityName, key: ownerKey,
                        property: pair.relationship.name,
                        sentence: "has a link to the key \(memberKey) with a place that none can have; "
                            + "it is put at an end"))
            }
            let (ofMember, ofOwner) = (position(3), position(4))
            let positions =
                link.isSource(owner, of: key)
                ? PairPositions(inSource: ofMember, inTarget: ofOwner)
                : PairPositions(inSource: ofOwner, inTarget: ofMember)
            return (statement.integer(0), ChangeSet.PairChange(key: key, kind: .link(positions)))
        }
        return nil
    }

    /// 0 in a relationship that is not ordered.
    private func position(_ column: Int) -> Int64 {
        isOrdered(column) ? ImportLayout.position(statement, column) : 0
    }

    private func isOrdered(_ column: Int) -> Bool {
        column == 3 ? pair.memberOrder != nil : pair.ownerOrder != nil
    }
}
