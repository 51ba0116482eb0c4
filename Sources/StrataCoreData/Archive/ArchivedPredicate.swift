import Foundation
import StrataModel
import StrataXcode

/// Reads the `NSPredicate` and `NSExpression` objects of an archive.
struct ArchivedPredicate {
    let archive: KeyedArchive
    private let work = PredicateAllowance()

    /// A predicate may nest so deep.
    private static let deepest = 64

    init(archive: KeyedArchive) { self.archive = archive }

    /// The predicate; nil for one that Strata has no form for.
    func predicate(_ object: KeyedArchive.Index?, depth: Int = ArchivedPredicate.deepest) -> FetchPredicate? {
        guard let object, depth > 0, work.take() else { return nil }
        switch archive.className(of: object) {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate": return compound(object, depth)
        case "NSComparisonPredicate": return comparison(object, depth)
        default: return nil
        }
    }

    private func compound(_ object: KeyedArchive.Index, _ depth: Int) -> FetchPredicate? {
        let members = archive.members(of: archive.field("NSSubpredicates", of: object))
        let parts = members.compactMap { predicate($0, depth: depth - 1) }
        guard parts.count == members.count else { return nil }
        switch archive.integer(archive.field("NSCompoundPredicateType", of: object)) {
        case 0 where parts.count == 1: return .not(parts[0])
        case 1: return .and(parts)
        case 2: return .or(parts)
        default: return nil
        }
    }

    private func comparison(_ object: KeyedArchive.Index, _ depth: Int) -> FetchPredicate? {
        let operation = archive.field("NSPredicateOperator", of: object)
        guard let number = archive.integer(archive.field("NSOperatorType", of: operation)),
            let type = UInt8(exactly: number).flatMap(ComparisonPredicate.Operator.init(rawValue:)),
            let left = expression(archive.field("NSLeftExpression", of: object), depth: depth - 1),
            let right = expression(archive.field("NSRightExpression", of: object), depth: depth - 1)
        else { return nil }
        let modifier = archive.integer(archive.field("NSModifier", of: operation)).flatMap { UInt8(exactly: $0) }
        let options =
            archive.integer(archive.field("NSOptions", of: operation))
            ?? archive.integer(archive.field("NSFlags", of: operation)) ?? 0
        var folding: StringFolding = []
        if options & 1 != 0 { folding.insert(.caseInsensitive) }
        if options & 2 != 0 { folding.insert(.diacriticInsensitive) }
        return .comparison(
            ComparisonPredicate(
                left, type, right,
                modifier: modifier.flatMap(ComparisonPredicate.Modifier.init(rawValue:)) ?? .direct, folding: folding))
    }

    /// The expression; nil for one that Strata has no form for.
    func expression(_ object: KeyedArchive.Index?, depth: Int = ArchivedPredicate.deepest) -> FetchExpression? {
        guard let object, depth > 0, work.take() else { return nil }
        switch archive.className(of: object) {
        case "NSSelfExpression": return .evaluatedObject
        case "NSConstantValueExpression": return constant(archive.field("NSConstantValue", of: object))
        case "NSVariableExpression": return archive.text(archive.field("NSVariable", of: object)).map { .variable($0) }
        case "NSKeyPathExpression", "NSFunctionExpression": return call(object, depth)
        case "NSAggregateExpression":
            let members = archive.members(of: archive.field("NSCollection", of: object))
            let parts = members.compactMap { expression($0, depth: depth - 1) }
            return parts.count == members.count ? .aggregate(parts) : nil
        default: return nil
        }
    }

    private func constant(_ object: KeyedArchive.Index?) -> FetchExpression? {
        guard let object else { return .constant(.null) }
        if let value = ArchivedValue(archive).value(object) { return .constant(value) }
        let members = archive.members(of: object)
        let parts = members.compactMap { ArchivedValue(archive).value($0) }
        return !members.isEmpty && parts.count == members.count ? .aggregate(parts.map { .constant($0) }) : nil
    }

    private func call(_ object: KeyedArchive.Index, _ depth: Int) -> FetchExpression? {
        let selector = archive.text(archive.field("NSSelectorName", of: object)) ?? ""
        let operand = archive.field("NSOperand", of: object)
        let arguments = archive.members(of: archive.field("NSArguments", of: object))
        if selector == "valueForKey:" || selector == "valueForKeyPath:" {
            guard let first = arguments.first, let base = expression(operand, depth: depth - 1),
                let path = archive.text(archive.field("NSKeyPath", of: first))
                    ?? archive.text(archive.field("NSConstantValue", of: first))
            else { return nil }
            return .path(path, of: base)
        }
        let parts = arguments.compactMap { expression($0, depth: depth - 1) }
        guard parts.count == arguments.count, !selector.isEmpty else { return nil }
        return .function(FetchFunction(rawValue: selector), parts)
    }
}

/// The number of predicates and expressions that may still be read: parts that contain each other would never end.
private final class PredicateAllowance {
    private var left = 50_000

    func take() -> Bool {
        left -= 1
        return left >= 0
    }
}

/// Reads plain values of an archive.
struct ArchivedValue {
    private let archive: KeyedArchive

    init(_ archive: KeyedArchive) { self.archive = archive }

    /// A text, number, date, UUID, URL, decimal or data; nil for another object.
    func value(_ object: KeyedArchive.Index?) -> AttributeValue? {
        guard let object else { return nil }
        if let text = archive.text(object) ?? archive.text(archive.field("NS.string", of: object)) {
            return .string(text)
        }
        if let value = archive.boolean(object) { return .boolean(value) }
        if let number = archive.integer(object) { return .integer(number) }
        if let number = archive.real(object) { return .double(number) }
        if let seconds = archive.real(archive.field("NS.time", of: object)) {
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        if let bytes = archive.data(archive.field("NS.uuidbytes", of: object)), bytes.count == 16 {
            return .uuid(UUID(bytes))
        }
        if let text = archive.text(archive.field("NS.relative", of: object)), let url = URL(string: text) {
            return .url(url)
        }
        if archive.className(of: object) == "NSDecimalNumber" { return decimal(object).map { .decimal($0) } }
        return archive.data(object).map { .data(Data($0)) }
    }

    /// The mantissa is in words of 16 bits, in the byte order that the archive names.
    private func decimal(_ object: KeyedArchive.Index) -> Decimal? {
        guard let bytes = archive.data(archive.field("NS.mantissa", of: object)), bytes.count % 2 == 0,
            bytes.count <= 16, let exponent = archive.integer(archive.field("NS.exponent", of: object)),
            -128...127 ~= exponent
        else { return nil }
        let isLittle = archive.integer(archive.field("NS.mantissa.bo", of: object)) != 2
        let length = Int(archive.integer(archive.field("NS.length", of: object)) ?? Int64(bytes.count / 2))
        var mantissa = Decimal(0)
        for word in stride(from: min(length, bytes.count / 2) - 1, through: 0, by: -1) {
            let (low, high) = isLittle ? (bytes[2 * word], bytes[2 * word + 1]) : (bytes[2 * word + 1], bytes[2 * word])
            mantissa = mantissa * 65536 + Decimal(Int(high) << 8 | Int(low))
        }
        let isNegative = archive.isTrue(archive.field("NS.negative", of: object))
        return Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: mantissa)
    }
}

extension UUID {
    /// - Parameter bytes: 16 bytes.
    init(_ bytes: some Collection<UInt8>) {
        self = Array(bytes).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
