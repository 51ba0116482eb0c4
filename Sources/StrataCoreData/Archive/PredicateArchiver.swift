import Foundation
import StrataModel
import StrataXcode

/// Writes predicates and expressions as `NSPredicate` and `NSExpression` objects of an archive; see
/// `ArchivedPredicate`, which reads them.
struct PredicateArchiver {
    typealias Value = KeyedArchiveWriter.Value

    /// The object of a predicate; nil for one that has no such form.
    static func object(_ predicate: FetchPredicate, in archive: inout KeyedArchiveWriter) -> Value? {
        switch predicate {
        case .constant(let value): return archive.object(value ? "NSTruePredicate" : "NSFalsePredicate", [])
        case .not(let part): return compound(0, [part], in: &archive)
        case .and(let parts): return compound(1, parts, in: &archive)
        case .or(let parts): return compound(2, parts, in: &archive)
        case .comparison(let comparison): return object(comparison, in: &archive)
        }
    }

    private static func compound(
        _ type: Int64, _ parts: [FetchPredicate], in archive: inout KeyedArchiveWriter
    ) -> Value? {
        guard let members = each(parts, { object($0, in: &archive) }) else { return nil }
        let list = archive.array(members)
        return archive.object(
            "NSCompoundPredicate", [("NSCompoundPredicateType", .integer(type)), ("NSSubpredicates", list)])
    }

    private static func each<Part>(_ parts: [Part], _ body: (Part) -> Value?) -> [Value]? {
        var values: [Value] = []
        for part in parts {
            guard let value = body(part) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func object(
        _ comparison: ComparisonPredicate, in archive: inout KeyedArchiveWriter
    ) -> Value? {
        guard let left = object(comparison.left, in: &archive), let right = object(comparison.right, in: &archive),
            comparison.folding.subtracting([.caseInsensitive, .diacriticInsensitive]).isEmpty
        else { return nil }
        var options: Int64 = 0
        if comparison.folding.contains(.caseInsensitive) { options |= 1 }
        if comparison.folding.contains(.diacriticInsensitive) { options |= 2 }
        let name =
            switch comparison.operator {
            case .equalTo, .notEqualTo: "NSEqualityPredicateOperator"
            case .matches: "NSMatchingPredicateOperator"
            case .like: "NSLikePredicateOperator"
            case .beginsWith, .endsWith: "NSSubstringPredicateOperator"
            case .in, .contains: "NSInPredicateOperator"
            case .between: "NSBetweenPredicateOperator"
            case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: "NSComparisonPredicateOperator"
            }
        let operation = archive.object(
            name,
            [
                ("NSOperatorType", .integer(Int64(comparison.operator.rawValue))),
                ("NSModifier", .integer(Int64(comparison.modifier.rawValue))), ("NSOptions", .integer(options)),
                ("NSFlags", .integer(options)), ("NSNegate", .boolean(comparison.operator == .notEqualTo)),
            ])
        return archive.object(
            "NSComparisonPredicate",
            [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", operation)])
    }

    // MARK: Expressions

    private static func expression(
        _ name: String, _ type: Int64, _ fields: [(String, Value)], in archive: inout KeyedArchiveWriter
    ) -> Value {
        archive.object(name, [("NSExpressionType", .integer(type))] + fields)
    }

    /// The object of an expression; nil for one that has no such form.
    static func object(_ expression: FetchExpression, in archive: inout KeyedArchiveWriter) -> Value? {
        switch expression {
        case .evaluatedObject: return self.expression("NSSelfExpression", 1, [], in: &archive)
        case .constant(let value):
            guard let constant = ArchivedScalar.object(value, in: &archive) else { return nil }
            return self.expression("NSConstantValueExpression", 0, [("NSConstantValue", constant)], in: &archive)
        case .variable(let name):
            let name = archive.text(name)
            return self.expression("NSVariableExpression", 2, [("NSVariable", name)], in: &archive)
        case .keyPath(let path): return keyPath(path, of: .evaluatedObject, in: &archive)
        case .keyPathOf(let base, let path): return keyPath(path, of: base, in: &archive)
        case .aggregate(let parts):
            guard let members = each(parts, { object($0, in: &archive) }) else { return nil }
            let list = archive.array(members)
            return self.expression("NSAggregateExpression", 14, [("NSCollection", list)], in: &archive)
        case .function(let function, let parts): return call(function.rawValue, parts, in: &archive)
        case .conditional, .subquery, .set, .element: return nil
        }
    }

    private static func keyPath(
        _ path: String, of base: FetchExpression, in archive: inout KeyedArchiveWriter
    ) -> Value? {
        guard let operand = object(base, in: &archive) else { return nil }
        let text = archive.text(path)
        let step = expression("NSKeyPathSpecifierExpression", 10, [("NSKeyPath", text)], in: &archive)
        let arguments = archive.array([step])
        let selector = archive.text(path.contains(".") ? "valueForKeyPath:" : "valueForKey:")
        return expression(
            "NSKeyPathExpression", 3,
            [("NSOperand", operand), ("NSSelectorName", selector), ("NSArguments", arguments)], in: &archive)
    }

    private static func call(
        _ selector: String, _ parts: [FetchExpression], in archive: inout KeyedArchiveWriter
    ) -> Value? {
        guard let members = each(parts, { object($0, in: &archive) }) else { return nil }
        let (name, list) = (archive.text(selector), archive.array(members))
        let utilities = archive.text("_NSPredicateUtilities")
        let operand = expression(
            "NSConstantValueExpression", 0, [("NSConstantValueClassName", utilities)], in: &archive)
        return expression(
            "NSFunctionExpression", 4,
            [("NSOperand", operand), ("NSSelectorName", name), ("NSArguments", list)], in: &archive)
    }
}

/// Writes plain values as objects of an archive; see `ArchivedValue`, which reads them.
enum ArchivedScalar {
    /// nil for a value that has no such form.
    static func object(_ value: AttributeValue, in archive: inout KeyedArchiveWriter) -> KeyedArchiveWriter.Value? {
        switch value {
        case .null: return KeyedArchiveWriter.null
        case .boolean(let value): return archive.add(.boolean(value))
        case .integer(let number): return archive.add(.integer(number))
        case .float(let number): return archive.add(.real(Double(number)))
        case .double(let number): return archive.add(.real(number))
        case .string(let text): return archive.text(text)
        case .date(let date):
            return archive.object("NSDate", [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
        case .uuid(let id):
            let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
            return archive.object("NSUUID", [("NS.uuidbytes", .data(bytes))])
        case .url(let url):
            let text = archive.text(url.absoluteString)
            return archive.object("NSURL", [("NS.base", KeyedArchiveWriter.null), ("NS.relative", text)])
        case .data(let data): return archive.add(.data(Array(data)))
        case .decimal(let number): return decimal(number, in: &archive)
        case .blob, .objectID, .composite, .encrypted: return nil
        }
    }

    /// The mantissa is in eight words of 16 bits.
    private static func decimal(
        _ number: Decimal, in archive: inout KeyedArchiveWriter
    ) -> KeyedArchiveWriter.Value? {
        guard !number.isNaN else { return nil }
        var words = [UInt32](repeating: 0, count: 8)
        for digit in "\(number.significand)".utf8 {
            var carry = UInt32(digit &- UInt8(ascii: "0"))
            for index in words.indices {
                let product = words[index] * 10 + carry
                (words[index], carry) = (product & 0xFFFF, product >> 16)
            }
        }
        let mantissa = words.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return archive.object(
            "NSDecimalNumber",
            [
                ("NS.mantissa", .data(mantissa)), ("NS.mantissa.bo", .integer(1)), ("NS.length", .integer(8)),
                ("NS.exponent", .integer(Int64(number.exponent))), ("NS.negative", .boolean(number.sign == .minus)),
                ("NS.compact", .boolean(true)),
            ])
    }
}
