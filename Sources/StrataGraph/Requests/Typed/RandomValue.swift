import Foundation
import StrataModel

/// Makes values of an attribute at random, few of them and often the same ones.
enum RandomValue {
    typealias Maker = (inout any RandomNumberGenerator) -> AttributeValue

    /// - Throws: `invalidRequest` for a type of which none are made.
    static func maker<Root: ManagedObject>(of path: PartialKeyPath<Root>) throws -> Maker {
        let type = Swift.type(of: path).valueType
        if let optional = type as? any OptionalType.Type {
            if optional.wrappedType is ManagedObject.Type { return reference }
            guard let storable = optional.wrappedType as? any StorableValue.Type,
                let make = maker(of: storable.attributeType)
            else { throw unknown(path) }
            return { generator in Int.random(in: 0..<5, using: &generator) == 0 ? .null : make(&generator) }
        }
        guard let storable = type as? any StorableValue.Type, let make = maker(of: storable.attributeType) else {
            throw unknown(path)
        }
        return make
    }

    private static func unknown<Root: ManagedObject>(_ path: PartialKeyPath<Root>) -> StrataError {
        let name = PropertyName.ofAny(path)
        return StrataError(
            .invalidRequest,
            "No values are made of \(Swift.type(of: path).valueType), the type of \(name). Give rows to checkLaws.",
            context: .init(entityName: Root.entityName, key: name))
    }

    private static func reference(_ generator: inout any RandomNumberGenerator) -> AttributeValue {
        let row = UInt64.random(in: 0...3, using: &generator)
        return row == 0 ? .null : .objectID(ObjectID(entity: EntityID(rawValue: 1), row: row))
    }

    private static func maker(of type: AttributeType) -> Maker? {
        switch type {
        case .integer16, .integer32, .integer64: return { .integer(Int64.random(in: -3...9, using: &$0)) }
        case .double: return { .double(number(&$0)) }
        case .float: return { .float(Float(number(&$0))) }
        case .decimal: return { .decimal(Decimal(Int.random(in: -300...900, using: &$0)) / 100) }
        case .boolean: return { .boolean(Bool.random(using: &$0)) }
        case .string: return { .string(["", "a", "b", "Solaris", "é"].randomElement(using: &$0) ?? "") }
        case .date:
            return { .date(Date(timeIntervalSinceReferenceDate: 86_400 * Double(Int.random(in: 0...90, using: &$0)))) }
        case .binaryData: return { .data(Data([UInt8.random(in: 0...5, using: &$0)])) }
        default: return nil
        }
    }

    /// A number that is not summed without rounding.
    private static func number(_ generator: inout any RandomNumberGenerator) -> Double {
        Double(Int.random(in: -20...60, using: &generator)) / 10
    }
}
