import StrataModel
import StrataStore

/// Decrypts the values of encrypted attributes that lie in files, in the rows of an export. The other ones are decrypted
/// where the rows are read.
struct EncryptedFiles {
    private let store: Store
    /// The attributes by the place of their columns.
    private let properties: [Int: PropertySchema]

    /// - Throws: `UsageError` for such an attribute of another object than that of the row.
    init(_ columns: [OutputColumn], of entity: EntitySchema, _ schema: Schema, _ store: Store) throws {
        self.store = store
        var found: [Int: PropertySchema] = [:]
        for (place, column) in columns.enumerated() {
            let steps = column.name.split(separator: ".").map(String.init)
            var owner: EntitySchema? = entity
            for step in steps.dropLast() {
                owner = owner?.property(named: step)?.relationship.flatMap { schema.entity($0.destination) }
            }
            guard let property = steps.last.flatMap({ owner?.property(named: $0) }),
                let attribute = property.attribute, attribute.isEncrypted, attribute.allowsExternalBinaryDataStorage
            else { continue }
            guard steps.count == 1 else {
                throw UsageError(
                    "\(column.name) is encrypted and may lie in files of another object, which this export cannot decrypt: "
                        + "export that entity, or choose --columns without it.")
            }
            found[place] = property
        }
        properties = found
    }

    /// The further columns of a row: the object that it belongs to.
    var moreColumns: [OutputColumn] { properties.isEmpty ? [] : [ColumnText.object] }

    /// The row without those columns. A value whose subject was erased is nil.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptedValueDamaged`, `missingBlob`.
    func decrypted(_ row: [PredicateOperand]) throws -> [PredicateOperand] {
        guard !properties.isEmpty, case .one(.objectID(let id))? = row.last else { return row }
        var cells = Array(row.dropLast())
        for (place, property) in properties {
            guard case .one(let value) = cells[place], case .blob = value else { continue }
            cells[place] = .one(try store.decryptedKept(value, of: property, in: id))
        }
        return cells
    }
}
