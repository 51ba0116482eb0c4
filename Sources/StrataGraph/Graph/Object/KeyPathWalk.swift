import Foundation
import StrataModel

/// Follows a dotted path from an object.
struct KeyPathWalk {
    let path: String

    /// The state of the walk: at a value, or at the values behind a to-many.
    private enum Reached {
        case one(Any?)
        case many([Any])
    }

    func value(of object: ManagedObject) throws -> Any? {
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        var reached = Reached.one(object)
        while let step = steps.popFirst() {
            guard step.hasPrefix("@") else {
                reached = try follow(step, from: reached)
                continue
            }
            guard let collection = CollectionOperator(rawValue: step) else {
                throw invalid("There is no operator \(step).")
            }
            // The steps up to the next operator are read from each member first.
            while let next = steps.first, !next.hasPrefix("@") {
                steps.removeFirst()
                reached = try follow(next, from: reached)
            }
            reached = try apply(collection, to: reached)
        }
        switch reached {
        case .one(let value): return value
        case .many(let members): return members
        }
    }

    private func follow(_ step: String, from reached: Reached) throws -> Reached {
        switch reached {
        case .one(let value): return try property(step, of: value)
        case .many(let members):
            var values: [Any] = []
            for member in members {
                switch try property(step, of: member) {
                case .one(let value?): values.append(value)
                case .one(nil): break
                case .many(let several): values += several
                }
            }
            return .many(values)
        }
    }

    private func property(_ step: String, of value: Any?) throws -> Reached {
        if step == "self" || step == "SELF" { return .one(value) }
        switch value {
        case nil: return .one(nil)
        case let object as ManagedObject:
            let value = try object.value(forKey: step)
            return (value as? [ManagedObject]).map { .many($0) } ?? .one(value)
        case let parts as [String: Any?]: return .one(parts[step] ?? nil)
        case let value?:
            if step == "length", let length = ManagedObject.box(value).length { return .one(length) }
            throw invalid("The value before .\(step) in the key path has no properties.")
        }
    }

    // MARK: Operators

    private func apply(_ collection: CollectionOperator, to reached: Reached) throws -> Reached {
        guard case .many(let members) = reached else {
            if case .one(nil) = reached { return reached }
            throw invalid("\(collection.rawValue) must follow a to-many relationship.")
        }
        if collection == .count { return .one(members.count) }
        let boxes = members.map(ManagedObject.box)
        guard !boxes.contains(.null) else {
            throw invalid("\(collection.rawValue) cannot be computed of these values.")
        }
        /// The value itself, which may be of a type that its box does not determine.
        func original(_ box: AttributeValue) -> Any? { boxes.firstIndex(of: box).map { members[$0] } ?? box.plain }
        do throws(StrataError) {
            switch try collection.apply(to: .many(boxes)) {
            case .many(let values): return .many(values.compactMap(original))
            case .one(.null): return .one(nil)
            case .one(let value):
                let isNumber = collection == .sum || collection == .average
                return .one(isNumber ? Self.number(value) : original(value))
            }
        } catch {
            throw StrataError(.unknownKey, error.message, context: .init(key: path), cause: error)
        }
    }

    /// Sums and averages are Decimal of decimals, and else Double.
    private static func number(_ value: AttributeValue) -> Any? {
        if case .decimal(let value) = value { return value }
        guard case .double(let number)? = value.coerced(to: .double) else { return value.plain }
        return number
    }

    private func invalid(_ message: String) -> StrataError {
        StrataError(.unknownKey, message, context: .init(key: path))
    }
}

extension ManagedObject {
    /// Returns the value at a key path, boxed for a predicate.
    final func operand(at path: String) throws(StrataError) -> PredicateOperand {
        do {
            let value = try value(forKeyPath: path)
            if let several = value as? [Any] { return .many(several.map(Self.box)) }
            return .one(value.map(Self.box) ?? .null)
        } catch {
            throw ManagedObjectContext.typed(error)
        }
    }

    fileprivate static func box(_ value: Any) -> AttributeValue {
        switch value {
        case let object as ManagedObject: .objectID(object.objectID)
        case let value as any StorableValue: value.attributeValue
        case let parts as [String: Any?]: .composite(parts.compactMapValues { $0.map(box) })
        default: .null
        }
    }
}
