import Foundation
import StrataModel
import StrataStore

/// Reads the rows of one table as rows of the new store.
struct ImportedRows {
    /// A row, and the to-ones that lead to objects that are not there yet.
    struct Row {
        let id: ObjectID
        let key: Int64
        var image: RowImage
        var isComplete = true
    }

    let layout: ImportLayout
    let table: Int
    let links: OneToOneMending
    let places: PlaceMending
    /// The history of the file. Rows with a history come with its transactions.
    private let history: PersistentHistory
    private let reader: ColumnReader
    private let rows: TableRows
    /// Stores a large value beside the store; nil keeps it in the row, and only counts one that is read in pieces.
    var stage: ((BytesInPieces) throws -> BlobReference)?
    private let treatment: CoreDataFaultTreatment

    /// - Parameter key: the key behind which rows are read in order; nil to read single rows.
    init(
        _ layout: ImportLayout, table: Int, links: OneToOneMending, places: PlaceMending,
        history: PersistentHistory, treatment: CoreDataFaultTreatment, after key: Int64?
    ) throws(StrataError) {
        self.layout = layout
        self.table = table
        self.links = links
        self.places = places
        self.history = history
        self.treatment = treatment
        reader = ColumnReader(layout.file)
        rows = try TableRows(layout.file.database, layout.plan.tables[table], after: key)
    }

    private var statement: SQLiteStatement { rows.row }

    /// The to-ones that a row gets.
    enum Reach {
        /// To-ones whose targets exist when rows are inserted in the order of transactions, tables and keys.
        case earlierRows
        case allRows
    }

    /// The next row; nil at the end. With `earlierRows` only rows without history.
    func next(_ reach: Reach, _ faults: inout FaultList) throws -> Row? {
        while try rows.step() {
            let key = statement.integer(0)
            if reach == .earlierRows, history.moment(table: table, key: key) > 0 { continue }
            if let row = try current(reach, &faults) { return row }
        }
        return nil
    }

    /// The row with a key; nil if there is none.
    func row(at key: Int64, _ faults: inout FaultList) throws -> Row? {
        try rows.find(key) ? try current(.earlierRows, &faults) : nil
    }

    private func current(_ reach: Reach, _ faults: inout FaultList) throws -> Row? {
        let (key, number) = (statement.integer(0), statement.key(1))
        let rootName = layout.plan.tables[table].rootName
        guard let id = layout.keys[table].objectID(key),
            let entity = layout.entity(number, table: table)
        else {
            faults.add(ImportTreatment.unknownEntity(rootName, statement))
            return nil
        }
        if !layout.isKnown(number, table: table) {
            let name = number.map { "the number \($0)" } ?? "no number"
            faults.add(
                CoreDataFault(
                    kind: .wrongEntity, entityName: entity.schema.name, key: key, property: nil,
                    sentence: "has \(name) for its entity, which its table does not have",
                    outcome: "it is taken as \(entity.schema.name), the only entity of its table"))
        }
        return try row(id, key, entity, reach, &faults)
    }

    private func row(
        _ id: ObjectID, _ key: Int64, _ entity: ImportLayout.Entity, _ reach: Reach, _ faults: inout FaultList
    ) throws -> Row {
        var builder = RowBuilder(entity.schema.layout)
        var isComplete = true
        for (slot, value) in entity.absent { try builder.set(slot, value) }
        for column in entity.columns {
            func report(_ kind: CoreDataFault.Kind, _ sentence: String, _ outcome: String) {
                faults.add(
                    CoreDataFault(
                        kind: kind, entityName: entity.schema.name, key: key, property: column.name,
                        sentence: sentence, outcome: outcome))
            }
            switch column.kind {
            case .attribute(let attribute):
                if attribute.isDerived { continue }
                let read = try self.value(column.column, attribute, report)
                if let remark = read.remark { faults.note(remark, of: "\(entity.schema.name).\(column.name)") }
                let value = checked(attribute, read.value, report)
                if case .null = value { continue }
                try builder.set(column.slot, try staged(value, attribute))
            case .composite(let elements):
                let value = try composite(elements, report)
                if case .null = value { continue }
                try builder.set(column.slot, value)
            case .toOne(let link):
                guard let target = self.target(key, column, link, report) else { continue }
                guard reach == .allRows || isEarlier(target, link.table, key) else {
                    isComplete = false
                    continue
                }
                try builder.setReference(column.slot, target)
                guard let slot = link.positionSlot else { continue }
                let mended = places.mended(key, of: column.column, table: table)
                if let fault = mended?.fault { report(.unsoundPlace, fault.sentence, fault.outcome) }
                let position = link.order.map { mended?.position ?? statement.integer($0) } ?? 0
                try builder.setPosition(slot, position)
            }
        }
        return Row(id: id, key: key, image: try builder.finish(), isComplete: isComplete)
    }

    private func isEarlier(_ target: ObjectID, _ other: Int, _ key: Int64) -> Bool {
        let targetKey = layout.keys[other].key(target)
        let (mine, others) = (history.moment(table: table, key: key), history.moment(table: other, key: targetKey))
        return (others, other, targetKey) <= (mine, table, key)
    }

    // MARK: Values

    private typealias Report = (CoreDataFault.Kind, String, String) -> Void

    private func value(
        _ column: Int, _ attribute: ColumnAttribute, _ report: Report
    ) throws -> (value: AttributeValue, remark: FaultList.Remark?) {
        switch reader.value(statement, column, attribute) {
        case .sound(let value, let remark): return (value, remark)
        case .pieces(let bytes, let remark):
            let uncopied = BlobReference(digest: Data(count: 32), sizeInBytes: UInt64(bytes.count))
            return (.blob(try stage?(bytes) ?? uncopied), remark)
        case .unsound(let value, let sentence, let outcome):
            report(.unsoundValue, sentence, outcome)
            return (value, nil)
        }
    }

    private func checked(
        _ attribute: ColumnAttribute, _ value: AttributeValue, _ report: Report
    ) -> AttributeValue {
        if case .null = value {
            guard !attribute.isOptional else { return value }
            let standard = treatment == .repair ? attribute.description.defaultValue ?? .null : .null
            let isSet = if case .null = standard { false } else { true }
            report(
                .missingValue, ImportTreatment.noValue,
                isSet ? FaultOutcome.defaultSet : "it comes over without one")
            return standard
        }
        guard attribute.hasRules else { return value }
        // No rule is about data in pieces.
        if case .blob = value { return value }
        if let failure = attribute.description.validate(value).first {
            report(.brokenRule, "breaks a rule: \(failure.message)", "it comes over")
        }
        return value
    }

    private func composite(_ elements: [CompositeElement], _ report: Report) throws -> AttributeValue {
        var composite = AttributeValue.null
        for element in elements {
            element.set(try self.value(element.column, element.attribute, report).value, in: &composite)
        }
        return composite
    }

    /// Data of this size and more goes to a file of its own, if the attribute allows it.
    private static let externalSize = 128 << 10

    private func staged(_ value: AttributeValue, _ attribute: ColumnAttribute) throws -> AttributeValue {
        guard attribute.allowsExternalStorage, case .data(let data) = value, data.count >= Self.externalSize,
            let stage
        else { return value }
        return .blob(try stage(BytesInPieces(data)))
    }

    // MARK: Links

    private func target(
        _ key: Int64, _ column: ImportLayout.Column, _ link: ImportLayout.LinkColumn, _ report: Report
    ) -> ObjectID? {
        let mended = links.mended(key, of: column.column, table: table)
        if case .cleared? = mended {
            report(.oneSidedLink, OneToOneMending.leadsElsewhere, FaultOutcome.linkLeftOut)
            return nil
        }
        if case .completed(let other)? = mended {
            report(.oneSidedLink, OneToOneMending.missing(other), FaultOutcome.linkSet)
            return layout.keys[link.table].objectID(other)
        }
        guard !statement.isNull(column.column) else {
            if link.isRequired {
                report(.missingValue, "is required and leads to no object", "it comes over without one")
            }
            return nil
        }
        guard let other = statement.key(column.column) else {
            let key = statement.text(column.column).prefix(100)
            report(.danglingKey, "leads to the key \(key), which no object has", FaultOutcome.linkLeftOut)
            return nil
        }
        guard let target = layout.keys[link.table].objectID(other), link.destinations.contains(target.entityID) else {
            report(.danglingKey, "leads to the key \(other), which no object has", FaultOutcome.linkLeftOut)
            return nil
        }
        return target
    }
}
