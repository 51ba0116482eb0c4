import StrataModel

/// Says why a store that an import made differs from its file: what of a row the import leaves out or changes because the
/// file's own model forbids it.
///
/// It only explains. Whether a value differs is decided without it, by `ValueComparison`.
struct ImportTreatment {
    private let layout: ImportLayout
    private let reader: ColumnReader
    /// Made for the first link that differs.
    private var links: OneToOneMending?

    init(_ layout: ImportLayout) {
        self.layout = layout
        reader = ColumnReader(layout.file)
    }

    /// What an import does with the row's column, if the store has that; nil if a fault of the file does not explain the
    /// value in the store.
    func fault(
        _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute, _ stored: AttributeValue,
        _ entityName: String, _ property: String
    ) -> CoreDataFault? {
        func fault(_ kind: CoreDataFault.Kind, _ sentence: String, _ outcome: String) -> CoreDataFault {
            CoreDataFault(
                kind: kind, entityName: entityName, key: row.integer(0), property: property, sentence: sentence,
                outcome: outcome)
        }
        let standard = attribute.isOptional ? nil : attribute.description.defaultValue
        switch reader.value(row, column, attribute) {
        case .sound(.null, _):
            return standard == stored ? fault(.missingValue, Self.noValue, FaultOutcome.defaultSet) : nil
        case .sound, .pieces: return nil
        case .unsound(.null, let sentence, let outcome):
            if standard == stored {
                return fault(.unsoundValue, sentence, "\(outcome), and \(FaultOutcome.defaultSet)")
            }
            return stored == .null ? fault(.unsoundValue, sentence, outcome) : nil
        case .unsound(let taken, let sentence, let outcome):
            return taken == stored ? fault(.unsoundValue, sentence, outcome) : nil
        }
    }

    /// What an import does with the row's link, if the store has that; nil if no fault of the file explains the target.
    mutating func fault(
        _ row: SQLiteStatement, _ column: ImportLayout.Column, _ link: ImportLayout.LinkColumn, table: Int,
        _ stored: ObjectID?, _ entityName: String
    ) throws(StrataError) -> CoreDataFault? {
        if links == nil { links = try OneToOneMending(layout) }
        let key = row.integer(0)
        func fault(_ kind: CoreDataFault.Kind, _ sentence: String, _ outcome: String) -> CoreDataFault {
            CoreDataFault(
                kind: kind, entityName: entityName, key: key, property: column.name, sentence: sentence,
                outcome: outcome)
        }
        switch links?.mended(key, of: column.column, table: table) {
        case .cleared? where stored == nil:
            return fault(.oneSidedLink, OneToOneMending.leadsElsewhere, FaultOutcome.linkLeftOut)
        case .completed(let other)? where stored == layout.keys[link.table].objectID(other):
            return fault(.oneSidedLink, OneToOneMending.missing(other), FaultOutcome.linkSet)
        default: break
        }
        guard stored == nil, let other = row.key(column.column),
            let target = layout.keys[link.table].objectID(other), !link.destinations.contains(target.entityID)
        else { return nil }
        return fault(
            .wrongEntity, "leads to the key \(other), whose entity the relationship does not lead to",
            FaultOutcome.linkLeftOut)
    }

    static let noValue = "is required and has no value"

    /// A row of a table's entity that the model does not have.
    static func unknownEntity(_ rootName: String, _ row: SQLiteStatement) -> CoreDataFault {
        CoreDataFault(
            kind: .unknownEntity, entityName: rootName, key: row.integer(0), property: nil,
            sentence: "belongs to no entity of the model", outcome: FaultOutcome.leftOut)
    }
}
