import Foundation
import StrataModel

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
    /// Which rows have a history, and come with its transactions.
    private let history: PersistentHistory
    private let reader: ColumnReader
    private let statement: SQLiteStatement
    /// Stores a large value beside the store; nil keeps it in the row.
    var stage: ((Data) throws -> BlobReference)?
    private let treatment: CoreDataFaultTreatment

    /// - Parameter key: the key behind which rows are read in order; nil to read single rows.
    init(
        _ layout: ImportLayout, table: Int, links: OneToOneMending, history: PersistentHistory,
        treatment: CoreDataFaultTreatment, after key: Int64?
    ) throws(StrataError) {
        self.layout = layout
        self.table = table
        self.links = links
        self.history = history
        self.treatment = treatment
        reader = ColumnReader(layout.file)
        let source = layout.plan.tables[table]
        statement = try layout.file.database.prepare(key == nil ? source.rowQuery : source.query)
        if let key { statement.restart(key) }
    }

    /// Which to-ones a row gets.
    enum Reach {
        /// Those whose targets are there when rows are inserted in the order of transactions, tables and keys.
        case earlierRows
        case allRows
    }

    /// The next row; nil at the end. With `earlierRows` only rows without history.
    func next(_ reach: Reach, _ faults: inout FaultList) throws -> Row? {
        while try statement.step() {
            let key = statement.integer(0)
            if reach == .earlierRows, history.moment(table: table, key: key) > 0 { continue }
            if let row = try current(reach, &faults) { return row }
        }
        return nil
    }

    /// The row with a key; nil if there is none.
    func row(at key: Int64, _ faults: inout FaultList) throws -> Row? {
        statement.restart(key)
        return try statement.step() ? try current(.earlierRows, &faults) : nil
    }

    private func current(_ reach: Reach, _ faults: inout FaultList) throws -> Row? {
        let key = statement.integer(0)
        guard statement.kind(0) == .integer, let id = layout.keys[table].objectID(key),
            let entity = layout.entity(statement.integer(1), table: table)
        else {
            faults.add(
                CoreDataFault(
                    kind: .unknownEntity, entityName: layout.plan.tables[table].rootName, key: key, property: nil,
                    sentence: "belongs to no entity of the model"))
            return nil
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
            func report(_ kind: CoreDataFault.Kind, _ sentence: String) {
                faults.add(
                    CoreDataFault(
                        kind: kind, entityName: entity.schema.name, key: key, property: column.name,
                        sentence: sentence))
            }
            switch column.kind {
            case .attribute(let attribute):
                if attribute.isDerived { continue }
                let value = checked(attribute, self.value(column.column, attribute, report), report)
                if case .null = value { continue }
                try builder.set(column.slot, try staged(value, attribute))
            case .composite(let elements):
                let value = composite(elements, report)
                if case .null = value { continue }
                try builder.set(column.slot, value)
            case .toOne(let link):
                guard let target = self.target(key, column, link, report) else { continue }
                guard reach == .allRows || isEarlier(target, link.table, key) else {
                    isComplete = false
                    continue
                }
                try builder.setReference(column.slot, target)
                if let slot = link.positionSlot {
                    if let order = link.order, !ImportLayout.isPlace(statement, order) {
                        report(.unsoundValue, "has a place in its list that none can have; it is put at an end")
                    }
                    let position = link.order.map { ImportLayout.position(statement, $0) } ?? 0
                    try builder.setPosition(slot, position)
                }
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

    private typealias Report = (CoreDataFault.Kind, String) -> Void

    private func value(_ column: Int, _ attribute: ColumnAttribute, _ report: Report) -> AttributeValue {
        switch reader.value(statement, column, attribute) {
        case .sound(let value): return value
        case .unsound(let value, let sentence):
            report(.unsoundValue, sentence)
            return value
        }
    }

    private func checked(
        _ attribute: ColumnAttribute, _ value: AttributeValue, _ report: Report
    ) -> AttributeValue {
        if case .null = value {
            guard !attribute.isOptional else { return value }
            report(.missingValue, "is required and has no value")
            return treatment == .repair ? attribute.description.defaultValue ?? .null : .null
        }
        guard attribute.hasRules else { return value }
        if let failure = attribute.description.validate(value).first {
            report(.brokenRule, "breaks a rule: \(failure.message)")
        }
        return value
    }

    private func composite(_ elements: [CompositeElement], _ report: Report) -> AttributeValue {
        var composite = AttributeValue.null
        for element in elements {
            element.set(self.value(element.column, element.attribute, report), in: &composite)
        }
        return composite
    }

    /// Data of this size and more goes to a file of its own, if the attribute allows it.
    private static let externalSize = 128 << 10

    private func staged(_ value: AttributeValue, _ attribute: ColumnAttribute) throws -> AttributeValue {
        guard attribute.allowsExternalStorage, case .data(let data) = value, data.count >= Self.externalSize,
            let stage
        else { return value }
        return .blob(try stage(data))
    }

    // MARK: Links

    private func target(
        _ key: Int64, _ column: ImportLayout.Column, _ link: ImportLayout.LinkColumn, _ report: Report
    ) -> ObjectID? {
        let mended = links.mended(key, of: column.name, table: table)
        if case .cleared? = mended {
            report(.oneSidedLink, "leads to an object whose link leads elsewhere")
            return nil
        }
        if case .completed(let other)? = mended { return layout.keys[link.table].objectID(other) }
        guard !statement.isNull(column.column) else {
            if link.isRequired { report(.missingValue, "is required and leads to no object") }
            return nil
        }
        let other = statement.integer(column.column)
        guard let target = layout.keys[link.table].objectID(other), link.destinations.contains(target.entityID) else {
            report(.danglingKey, "leads to the key \(other), which no object has")
            return nil
        }
        return target
    }
}
