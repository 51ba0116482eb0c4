import Foundation
import StrataModel

/// Objects read from JSON, on which tests evaluate predicates.
///
/// A JSON object is an object with properties; `{"$id": "x", …}` names one and `{"$ref": "x"}` refers to it. Values
/// that JSON does not have are written `{"$date": seconds}`, `{"$uuid": text}`, `{"$url": text}`, `{"$data": text}`,
/// `{"$decimal": text}`, `{"$float": number}`, `{"$composite": {…}}`.
final class MemoryGraph: ExpressionContext {
    private var objects: [ObjectID: [String: PredicateOperand]] = [:]
    private var named: [String: ObjectID] = [:]

    enum Node: Decodable {
        case value(AttributeValue)
        case list([Node])
        case object([String: Node])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .value(.null)
            } else if let value = try? container.decode(Bool.self) {
                self = .value(.boolean(value))
            } else if let value = try? container.decode(Int64.self) {
                self = .value(.integer(value))
            } else if let value = try? container.decode(Double.self) {
                self = .value(.double(value))
            } else if let value = try? container.decode(String.self) {
                self = .value(.string(value))
            } else if let list = try? container.decode([Node].self) {
                self = .list(list)
            } else {
                self = .object(try container.decode([String: Node].self))
            }
        }
    }

    static func nodes(_ json: String) throws -> [Node] {
        try JSONDecoder().decode([Node].self, from: Data(json.utf8))
    }

    func operand(_ node: Node) throws -> PredicateOperand {
        switch node {
        case .value(let value): return .one(value)
        case .list(let parts): return .many(try parts.flatMap { try operand($0).members })
        case .object(let parts):
            if let value = try Self.special(parts) { return .one(value) }
            if case .value(.string(let name))? = parts["$ref"] {
                return .one(named[name].map(AttributeValue.objectID) ?? .null)
            }
            let id = ObjectID(rawValue: 1 << 48 | UInt64(objects.count + 1))
            objects[id] = [:]
            if case .value(.string(let name))? = parts["$id"] { named[name] = id }
            for (key, part) in parts.sorted(by: { $0.key < $1.key }) where key != "$id" {
                let value = try operand(part)
                objects[id]?[key] = value
            }
            return .one(.objectID(id))
        }
    }

    /// A value of a kind that JSON does not have.
    private static func special(_ parts: [String: Node]) throws -> AttributeValue? {
        guard parts.count == 1, let (key, node) = parts.first else { return nil }
        switch (key, node) {
        case ("$date", .value(let value)): return ValueCast.date.value(of: value)
        case ("$uuid", .value(let value)): return ValueCast.uuid.value(of: value)
        case ("$url", .value(let value)): return ValueCast.url.value(of: value)
        case ("$decimal", .value(let value)): return ValueCast.decimal.value(of: value)
        case ("$float", .value(let value)): return ValueCast.float.value(of: value)
        case ("$data", .value(.string(let text))): return .data(Data(text.utf8))
        case ("$composite", .object(let elements)):
            return .composite(elements.mapValues { if case .value(let value) = $0 { value } else { .null } })
        default: return nil
        }
    }

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        objects[object]?[key] ?? .one(.null)
    }

    let now = Date(timeIntervalSinceReferenceDate: 1_000)
}
