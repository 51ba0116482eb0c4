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
    /// The rows whose link an earlier row has.
    private let repeated: Set<Int64>
    /// By the numbers of rows: the places of members, and of owners as seen from a member.
    private let memberPlaces: [Int64: PlaceMending.Mended]
    private let ownerPlaces: [Int64: PlaceMending.Mended]

    init(_ layout: ImportLayout, _ pair: FilePlan.PairTable, after row: Int64) throws(StrataError) {
        self.layout = layout
        self.pair = pair
        let columns =
            [pair.owner, pair.member].map(SQLiteDatabase.quoted)
            + [pair.memberOrder, pair.ownerOrder].map { $0.map(SQLiteDatabase.quoted) ?? "NULL" }
        let table = SQLiteDatabase.quoted(pair.table)
        let database = layout.file.database
        func places(_ owner: String, _ member: String, _ place: String?) throws(StrataError) -> [Int64: PlaceMending
            .Mended]
        {
            guard let place else { return [:] }
            return try PlaceMending.mended(
                database, pair.table, owner: owner, place: place, member: member, row: "rowid")
        }
        memberPlaces = try places(pair.owner, pair.member, pair.memberOrder)
        ownerPlaces = try places(pair.member, pair.owner, pair.ownerOrder)
        repeated = try pair.repeatedRows(database)
        // A member without an owner is in no pair; a row of a join table without a key is a fault.
        var condition = "rowid > ?1" + (pair.member == "Z_PK" ? " AND \(columns[0]) IS NOT NULL" : "")
        if pair.isReflexive {
            // The file may have the pair from either end, or from both.
            condition +=
                " AND (\(columns[0]) <= \(columns[1]) OR \(columns[0]) IS NULL OR NOT EXISTS (SELECT 1 FROM \(table) o "
                + "WHERE o.\(columns[0]) = p.\(columns[1]) AND o.\(columns[1]) = p.\(columns[0])))"
        }
        statement = try database.prepare(
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
            let row = statement.integer(0)
            guard let ownerKey = statement.key(1), let memberKey = statement.key(2) else {
                let key = [1, 2].first { statement.key($0) == nil && !statement.isNull($0) }
                let sentence = key.map { "with the key \(statement.text($0).prefix(100)), which no object has," }
                faults.add(
                    fault(
                        .danglingKey, nil,
                        "has a link \(sentence ?? "without a key,") in the row \(row) of \(pair.table)"))
                continue
            }
            guard let link, let owner = layout.keys[pair.ownerTable].objectID(ownerKey),
                let member = layout.keys[pair.memberTable].objectID(memberKey), owners.contains(owner.entityID),
                members.contains(member.entityID), let key = link.pairKey(owner: owner, member: member)
            else {
                faults.add(
                    fault(
                        .danglingKey, ownerKey,
                        "has a link to the key \(memberKey), and one of the two objects does not exist"))
                continue
            }
            guard !repeated.contains(row) else {
                faults.add(
                    fault(.repeatedLink, ownerKey, "has a link to the key \(memberKey) twice", "it comes over once"))
                continue
            }
            for place in [memberPlaces[row], ownerPlaces[row]] {
                guard let unsound = place?.fault else { continue }
                faults.add(
                    fault(
                        .unsoundPlace, ownerKey, "has a link to the key \(memberKey), which \(unsound.sentence)",
                        unsound.outcome))
            }
            let (ofMember, ofOwner) = (position(3, memberPlaces[row]), position(4, ownerPlaces[row]))
            let positions =
                link.isSource(owner, of: key)
                ? PairPositions(inSource: ofMember, inTarget: ofOwner)
                : PairPositions(inSource: ofOwner, inTarget: ofMember)
            return (row, ChangeSet.PairChange(key: key, kind: .link(positions)))
        }
        return nil
    }

    private func fault(
        _ kind: CoreDataFault.Kind, _ key: Int64?, _ sentence: String, _ outcome: String = FaultOutcome.linkLeftOut
    ) -> CoreDataFault {
        CoreDataFault(
            kind: kind, entityName: pair.entityName, key: key, property: pair.relationship.name, sentence: sentence,
            outcome: outcome)
    }

    /// 0 in a relationship that is not ordered.
    private func position(_ column: Int, _ mended: PlaceMending.Mended?) -> Int64 {
        let isOrdered = column == 3 ? pair.memberOrder != nil : pair.ownerOrder != nil
        return isOrdered ? mended?.position ?? statement.integer(column) : 0
    }
}

extension FilePlan.PairTable {
    /// The numbers of rows whose link a row with a smaller number has.
    func repeatedRows(_ database: SQLiteDatabase) throws(StrataError) -> Set<Int64> {
        guard member != "Z_PK" else { return [] }
        let keys = "\(SQLiteDatabase.quoted(owner)), \(SQLiteDatabase.quoted(member))"
        let table = SQLiteDatabase.quoted(table)
        let first = try database.prepare("SELECT 1 FROM \(table) GROUP BY \(keys) HAVING count(*) > 1 LIMIT 1")
        guard try first.step() else { return [] }
        var repeated: Set<Int64> = []
        var last: (Int64, Int64)?
        let rows = try database.prepare("SELECT rowid, \(keys) FROM \(table) ORDER BY \(keys), rowid")
        while try rows.step() {
            guard let owner = rows.key(1), let member = rows.key(2) else { continue }
            if let last, last == (owner, member) { repeated.insert(rows.integer(0)) }
            last = (owner, member)
        }
        return repeated
    }

    /// Returns the table that a query reads, or a subquery in which a link that is there twice counts once.
    func source(_ database: SQLiteDatabase) throws(StrataError) -> String {
        let name = SQLiteDatabase.quoted(table)
        guard try !repeatedRows(database).isEmpty else { return name }
        let keys = "\(SQLiteDatabase.quoted(owner)), \(SQLiteDatabase.quoted(member))"
        let places = [memberOrder, ownerOrder].compactMap { $0.map(SQLiteDatabase.quoted) }.map { ", \($0)" }
        // The other columns are those of the row with the smallest number.
        return "(SELECT \(keys)\(places.joined()), min(rowid) FROM \(name) GROUP BY \(keys))"
    }
}
