import Foundation
import StrataModel

/// Evaluates an expression for one object after another.
struct ValueReader: Sendable {
    private enum Source: Sendable {
        case constant(AttributeValue)
        /// A property of the row itself, by slot.
        case slot(Int)
        /// An encrypted property of the row itself.
        case encrypted(Int, EncryptedComparison)
        case path(ValuePath)
        /// Whether a whole number is used for a decimal, such as the sum of no decimals.
        case expression(FetchExpression, isDecimal: Bool)
    }

    private let source: Source
    /// The type of the values; nil if it is only known value by value.
    let type: ComparedType?

    /// - Throws: `unknownKey`; `invalidRequest` for a path with many values.
    init(_ expression: FetchExpression, _ entity: EntitySchema, _ schema: Schema) throws(StrataError) {
        switch expression {
        case .constant(let value):
            (source, type) = (.constant(value), nil)
        case .evaluatedObject:
            (source, type) = (.path(ValuePath(ResolvedPath(selfOf: entity))), .object)
        case .keyPath(let text)
        where (!text.contains("@") || text.hasSuffix(".@count"))
            && !PredicateCheck.isLengthOfText(text, in: entity, schema):
            let path = try ResolvedPath.of(text, in: entity, schema)
            guard !path.isToMany else {
                throw StrataError(
                    .invalidRequest, "\(text) has many values; a column needs one value of each object.",
                    context: .init(entityName: entity.name, key: text))
            }
            type = ComparedType(path.end)
            if path.hops.isEmpty, case .attribute(let slot, _) = path.end,
                let encryption = EncryptedComparison(path, schema)
            {
                source = .encrypted(slot, encryption)
            } else if case .attribute(let slot, _) = path.end, path.hops.isEmpty {
                source = .slot(slot)
            } else {
                source = .path(ValuePath(path, schema))
            }
        default:
            let result = try PredicateCheck(entity, schema).type(of: expression)
            (source, type) = (.expression(expression, isDecimal: result.compared == .decimal), nil)
        }
    }

    /// The slot of the row itself that has the values; nil if they come from elsewhere.
    var ownSlot: Int? { if case .slot(let slot) = source { slot } else { nil } }

    func value(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
        switch source {
        case .constant(let value): return value
        case .slot(let slot): return try row.value(slot)
        case .encrypted(let slot, let encryption): return try encryption.decrypted(row.value(slot), of: id)
        case .path(let path): return try path.value(row, id, evaluation)
        case .expression(let expression, let isDecimal):
            let operand = try evaluation.expressions.withRow(row, id) { try $0.value(of: expression) }
            if isDecimal, case .one(.integer(let whole)) = operand { return .decimal(Decimal(whole)) }
            if case .one(let value) = operand { return value }
            throw StrataError(
                .invalidRequest, "\(expression) is a list; a column needs one value of each object.")
        }
    }
}
