import Foundation
import StrataModel

/// Computes derived attributes of objects in one state.
struct DerivationRun {
    let plan: DerivationMap
    /// The state that the values belong to.
    let snapshot: Snapshot
    private let evaluation: Evaluation
    /// Counts the members of a to-many in that state.
    private let count: (PropertyID, ObjectID) throws -> Int
    /// The value of `now()`.
    let now: AttributeValue

    init(
        _ plan: DerivationMap, _ snapshot: Snapshot, now: Date,
        counting count: @escaping (PropertyID, ObjectID) throws -> Int
    ) {
        self.plan = plan
        self.snapshot = snapshot
        self.count = count
        self.now = .date(now)
        evaluation = Evaluation(snapshot)
    }

    /// The value of one derived attribute.
    ///
    /// - Throws: `validationMissingMandatoryProperty` if a required attribute is nil, `validationNumberTooLarge` if the
    ///   attribute's type cannot hold the value.
    func value(of attribute: DerivedAttribute, _ row: RowReader, _ id: ObjectID) throws -> AttributeValue {
        let value = try computed(attribute, row, id)
        guard let fit = attribute.fitting(value) else {
            throw StrataError(
                .validationNumberTooLarge, "\(attribute.name) comes to more than \(attribute.type.name) holds.",
                context: .init(
                    entityName: snapshot.schema.entity(id.entityID)?.name, objectID: id, key: attribute.name,
                    value: value))
        }
        if fit.isNull, !attribute.isOptional {
            throw StrataError(
                .validationMissingMandatoryProperty,
                "\(attribute.name) is required, and what it is derived from has no value.",
                context: .init(
                    entityName: snapshot.schema.entity(id.entityID)?.name, objectID: id, key: attribute.name,
                    value: .null))
        }
        return fit
    }

    private func computed(_ attribute: DerivedAttribute, _ row: RowReader, _ id: ObjectID) throws -> AttributeValue {
        switch attribute.computation {
        case .now: return now
        case .value(let path, let function):
            let value = try path.value(row, id, evaluation)
            guard let function, !value.isNull else { return Self.plain(value) }
            return try function.result(of: value)
        case .count(let owners, let link):
            guard case .objectID(let owner) = try owners.value(row, id, evaluation) else { return .null }
            return .integer(Int64(try count(link, owner)))
        case .sum(let owners, let members):
            guard case .objectID(let owner) = try owners.value(row, id, evaluation) else { return .null }
            if owner == id { return try sum(members, row, id) }
            return try evaluation.withRow(owner) { row in try row.map { try sum(members, $0, owner) } ?? .null }
        case .refused(let error): throw error
        }
    }

    private func sum(_ path: ValuePath, _ row: RowReader, _ id: ObjectID) throws -> AttributeValue {
        var values: [AttributeValue] = []
        try path.forEachValue(row, id, evaluation) {
            values.append($0)
            return true
        }
        guard case .one(let sum) = try CollectionOperator.sum.apply(to: .many(values)) else { return .null }
        return sum
    }

    /// A to-one without a target is nil.
    private static func plain(_ value: AttributeValue) -> AttributeValue {
        if case .objectID(let id) = value, id.isNil { return .null }
        return value
    }
}
