import Foundation
import StrataModel

/// Reads the values of a snapshot's rows for the evaluation of expressions, without making objects.
///
/// Belongs to one run on one thread. The present row is read in place; other rows are looked up.
final class SnapshotExpressions: ExpressionContext {
    private unowned let evaluation: Evaluation
    /// Key paths from `SELF` to one value; nil for key paths that are followed step by step.
    private var paths: [String: ValuePath?] = [:]
    private var row: (id: ObjectID, reader: RowReader)?
    /// The results of nested requests.
    private var fetched: [AttributeValue: [AttributeValue]] = [:]
    let now = Date()

    init(_ evaluation: Evaluation) { self.evaluation = evaluation }

    /// Runs `body` with an evaluator whose `SELF` is an object, and which reads plain key paths from its row.
    func withRow<R>(
        _ reader: RowReader, _ id: ObjectID, _ body: (PredicateEvaluator<SnapshotExpressions>) throws -> R
    ) rethrows -> R {
        let outer = row
        row = (id, reader)
        defer { row = outer }
        return try body(PredicateEvaluator(self, object: .one(.objectID(id))))
    }

    func operand(atPath path: String) throws(StrataError) -> PredicateOperand? {
        guard let row, let entity = evaluation.schema.entity(row.id.entityID) else { return nil }
        let known: ValuePath?
        if let found = paths[path] {
            known = found
        } else {
            known = Self.singleValuePath(path, entity, evaluation.schema)
            paths[path] = .some(known)
        }
        guard let known else { return nil }
        do {
            return .one(try known.value(row.reader, row.id, evaluation))
        } catch {
            throw StrataError.reading(error)
        }
    }

    /// Slots are the same in all subentities of the entity that declares a property, so a path that is bound once
    /// serves all objects. Paths that only a subentity has are not kept.
    private static func singleValuePath(_ path: String, _ entity: EntitySchema, _ schema: Schema) -> ValuePath? {
        guard let first = path.split(separator: ".").first, let property = entity.property(named: String(first)),
            let resolved = try? ResolvedPath.of(path, in: entity, schema), !resolved.isToMany
        else { return nil }
        return schema.property(property.id)?.slot == property.slot ? ValuePath(resolved, schema) : nil
    }

    func spend(_ steps: Int, listing members: Int) throws(StrataError) {
        guard let snapshot = evaluation.snapshot else { return }
        do {
            try snapshot.spend(values: steps)
            if members > 0 { try snapshot.meter.check(more: members * MemoryLayout<AttributeValue>.stride) }
        } catch {
            throw StrataError.reading(error)
        }
    }

    func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue] {
        if let known = fetched[request] { return known }
        let fetch = try NestedFetch(request)
        guard let snapshot = evaluation.snapshot, let entity = evaluation.schema.entity(named: fetch.entityName) else {
            throw StrataError(
                .invalidRequest, "FETCH cannot be used here, because there is no store to fetch from.",
                context: .init(entityName: fetch.entityName))
        }
        do {
            let found = try snapshot.fetch(StoreRequest(fetch, entity)).map { AttributeValue.objectID($0) }
            fetched[request] = found
            return found
        } catch {
            throw StrataError.reading(error)
        }
    }

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        guard let entity = evaluation.schema.entity(object.entityID) else { return .one(.null) }
        guard let property = entity.property(named: key) else {
            if key == "id" || key == "objectID" { return .one(.objectID(object)) }
            throw entity.unknownKey(key, .init(entityName: entity.name, objectID: object, key: key))
        }
        do {
            if let relationship = property.relationship, relationship.isToMany {
                guard let snapshot = evaluation.snapshot else { return .many([]) }
                return .many(try snapshot.members(of: property.id, owner: object).map { .objectID($0) })
            }
            if let row, row.id == object { return .one(try value(property, row.reader, object)) }
            return try evaluation.withRow(object) { reader in
                .one(try reader.map { try value(property, $0, object) } ?? .null)
            }
        } catch {
            throw StrataError.reading(error)
        }
    }
}

extension SnapshotExpressions {
    /// A value of an object; one that is encrypted stays so if its key is not known.
    private func value(_ property: PropertySchema, _ row: RowReader, _ object: ObjectID) throws -> AttributeValue {
        let value = try row.operand(property)
        guard case .encrypted = value else { return value }
        return try EncryptedComparison.decrypted(value, property, object, evaluation.schema)
    }
}

extension RowReader {
    /// A value of the row; a to-one without target is nil.
    fileprivate func operand(_ property: PropertySchema) throws -> AttributeValue {
        guard property.storage != nil else { return .null }
        let value = try value(property.slot)
        if case .objectID(let id) = value, id.isNil { return .null }
        return value
    }
}

extension StrataError {
    /// The error that an expression throws after a failed read of the store.
    static func reading(_ error: any Error) -> StrataError {
        if let error = error as? StrataError { return error }
        if let error = error as? CorruptRecord { return .corrupt(error, "objects") }
        return StrataError(.persistentStoreOperation, "The store could not be read.", cause: error)
    }
}

/// Evaluates any comparison of the predicate language over values, for those that no other condition covers.
final class ExpressionCondition: RowCondition {
    private let predicate: FetchPredicate
    private let isOwnRow: Bool

    init(_ predicate: FetchPredicate, isOwnRow: Bool) {
        self.predicate = predicate
        self.isOwnRow = isOwnRow
    }

    var cost: ConditionCost { isOwnRow ? .value : .manyRows }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try evaluation.expressions.withRow(row, id) { try $0.holds(predicate) }
    }
}
