import Foundation
import StrataModel

/// Follows a dotted path from an object.
struct KeyPathWalk {
    let path: String

    func value(of object: ManagedObject, _ steps: ArraySlice<String>) throws -> Any? {
        guard let first = steps.first else { return object }
        let rest = steps.dropFirst()
        if first == "self" || first == "SELF" { return try value(of: object, rest) }
        let value = try object.value(forKey: first)
        if rest.isEmpty { return value }
        switch value {
        case nil: return nil
        case let target as ManagedObject: return try self.value(of: target, rest)
        case let members as [ManagedObject]: return try self.value(of: members, rest)
        case let parts as [String: Any?]: return try element(of: parts, rest)
        default: throw invalid("\(first) has no \(rest.joined(separator: ".")).")
        }
    }

    private func element(of parts: [String: Any?], _ steps: ArraySlice<String>) throws -> Any? {
        guard let first = steps.first, let value = parts[first] else { return nil }
        if steps.count == 1 { return value }
        guard let inner = value as? [String: Any?] else { throw invalid("\(first) has no elements.") }
        return try element(of: inner, steps.dropFirst())
    }

    /// Over a to-many: the values of its members, flattened, or an operator over them.
    private func value(of members: [ManagedObject], _ steps: ArraySlice<String>) throws -> Any? {
        guard let first = steps.first else { return members }
        if first == "@count" { return members.count }
        if first.hasPrefix("@") {
            let rest = steps.dropFirst()
            guard !rest.isEmpty else { throw invalid("\(first) needs a property.") }
            return try aggregate(first, try members.compactMap { try self.value(of: $0, rest) })
        }
        var values: [Any] = []
        for member in members {
            guard let value = try self.value(of: member, steps) else { continue }
            if let several = value as? [Any] { values += several } else { values.append(value) }
        }
        return values
    }

    private func aggregate(_ name: String, _ values: [Any]) throws -> Any? {
        if name == "@min" || name == "@max" { return try extreme(name, values) }
        let numbers = try values.map { value in
            guard let storable = value as? any StorableValue,
                let boxed = storable.attributeValue.coerced(to: .double), case .double(let number) = boxed
            else { throw invalid("\(name) needs numbers.") }
            return number
        }
        switch name {
        case "@sum": return numbers.reduce(0, +)
        case "@avg": return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
        default: throw invalid("There is no operator \(name).")
        }
    }

    private func extreme(_ name: String, _ values: [Any]) throws -> Any? {
        var best: (value: Any, boxed: AttributeValue)?
        for value in values {
            guard let boxed = (value as? any StorableValue)?.attributeValue else {
                throw invalid("\(name) needs values with an order.")
            }
            guard let current = best else {
                best = (value, boxed)
                continue
            }
            guard let order = boxed.order(to: current.boxed) else { continue }
            if order == (name == "@min" ? .ascending : .descending) { best = (value, boxed) }
        }
        return best?.value
    }

    private func invalid(_ message: String) -> StrataError {
        StrataError(.unknownKey, message, context: .init(key: path))
    }
}

extension ManagedObject {
    /// What a key path comes to in a predicate.
    final func operand(at path: String) throws(StrataError) -> PredicateOperand {
        do {
            let value = try value(forKeyPath: path)
            if let several = value as? [Any] { return .many(several.map(Self.box)) }
            return .one(value.map(Self.box) ?? .null)
        } catch {
            throw ManagedObjectContext.typed(error)
        }
    }

    private static func box(_ value: Any) -> AttributeValue {
        switch value {
        case let object as ManagedObject: .objectID(object.objectID)
        case let value as any StorableValue: value.attributeValue
        case let parts as [String: Any?]: .composite(parts.compactMapValues { $0.map(box) })
        default: .null
        }
    }
}
