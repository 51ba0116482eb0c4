import Foundation
import StrataModel
import StrataXcode

/// Makes the columns of values; the inverse of `ColumnReader`.
enum ExportedValue {
    /// - Parameter blob: the bytes of a value outside the row.
    /// - Returns: null for a value that SQLite cannot hold, too.
    static func value(
        _ value: AttributeValue, _ attribute: ColumnAttribute, _ blob: (BlobReference) throws -> Data
    ) throws -> SQLiteValue {
        switch value {
        case .null, .objectID, .composite, .encrypted: .null
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .integer(let number): .integer(number)
        case .float(let number): number.isNaN ? .null : .real(Double(number))
        case .double(let number): number.isNaN ? .null : .real(number)
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .decimal(let number): .text("\(number)")
        case .string(let text): .text(text)
        case .url(let url): .text(url.absoluteString)
        case .uuid(let id): .blob(withUnsafeBytes(of: id.uuid) { Array($0) })
        case .data(let data): .blob(bytes(data, attribute))
        case .blob(let reference): .blob(bytes(try blob(reference), attribute))
        }
    }

    /// Data that may be outside the row begins with 1 where it is in it.
    private static func bytes(_ data: Data, _ attribute: ColumnAttribute) -> [UInt8] {
        (attribute.allowsExternalStorage ? [1] : []) + Array(data)
    }

    /// Whether a number is not the shortest text of a `Double`, as which a column of numbers keeps it.
    static func isWide(_ number: Decimal) -> Bool {
        guard !number.isNaN, let double = Double("\(number)") else { return false }
        if let whole = Int64(exactly: double), whole.magnitude < 1 << 53 { return Decimal(whole) != number }
        return Decimal(string: "\(double)", locale: Locale(identifier: "en_US_POSIX")) != number
    }
}

extension FilePlan.RootTable {
    /// The columns with the entity of a to-one's target, each with the column of its key.
    func targetColumns(in file: CoreDataFile) -> [(name: String, column: Int)] {
        guard let table = file.tables[name.uppercased()] else { return [] }
        let toOnes = Set(
            properties.values.joined().compactMap { property -> Int? in
                if case .toOne(_, let column, _, _) = property.kind { column } else { nil }
            })
        return toOnes.sorted().compactMap { column in
            let ending = "_\(columns[column - 2].dropFirst())"
            let found = table.columns.map(\.name).first { name in
                name.hasSuffix(ending) && name.hasPrefix("Z") && name.count > ending.count + 1
                    && name.dropFirst().dropLast(ending.count).allSatisfy(\.isNumber)
            }
            return found.map { ($0, column) }
        }
    }
}

/// The metadata of a file of Core Data, in `Z_METADATA`.
enum ExportFacts {
    static func propertyList(_ model: ManagedObjectModel, _ record: ImportRecord?) -> [UInt8] {
        typealias Value = KeyedArchiveWriter.Value
        var facts: [(String, Value)] = [
            ("NSStoreType", .text("SQLite")), ("NSPersistenceFrameworkVersion", .integer(1344)),
            ("NSStoreModelVersionHashesVersion", .integer(3)), ("_NSAutoVacuumLevel", .text("2")),
            ("NSStoreModelVersionIdentifiers", .list([.text(model.versionIdentifier ?? "")])),
        ]
        if let hashes = record?.versionHashes(of: model) {
            let entries = hashes.sorted { $0.key < $1.key }.map { ($0.key, Value.data(Array($0.value))) }
            facts.append(("NSStoreModelVersionHashes", .dictionary(entries)))
        }
        return KeyedArchiveWriter.propertyList(.dictionary(facts))
    }
}
