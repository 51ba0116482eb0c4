/// Writes archives as `NSKeyedArchiver` does: objects by class, which refer to each other, as a binary property list.
package struct KeyedArchiveWriter {
    package indirect enum Value: Sendable {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        /// A reference to an object of the archive.
        case reference(Int)
        case real(Double)
        case data([UInt8])
        case list([Value])
        case dictionary([(String, Value)])
    }

    /// The reference to nil.
    package static let null = Value.reference(0)

    /// The objects; the first is `$null`.
    private var objects: [Value] = [.text("$null")]
    private var classes: [String: Int] = [:]
    private var texts: [String: Int] = [:]

    package init() {}

    package mutating func add(_ value: Value) -> Value {
        objects.append(value)
        return .reference(objects.count - 1)
    }

    /// The reference to a text, of which the archive has one copy; to nil for nil.
    package mutating func text(_ text: String?) -> Value {
        guard let text else { return Self.null }
        if let known = texts[text] { return .reference(known) }
        let added = add(.text(text))
        texts[text] = objects.count - 1
        return added
    }

    /// - Parameter name: a class of Foundation or Core Data.
    private mutating func type(_ name: String) -> Value {
        if let known = classes[name] { return .reference(known) }
        let chain = [name] + (Self.parents[name] ?? []) + ["NSObject"]
        let names = chain.map { text($0) }
        let added = add(.dictionary([("$classname", text(name)), ("$classes", .list(names))]))
        classes[name] = objects.count - 1
        return added
    }

    /// The classes between a class and `NSObject`.
    private static let parents: [String: [String]] = [
        "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSMutableSet": ["NSSet"],
        "NSMutableString": ["NSString"], "NSDecimalNumber": ["NSNumber", "NSValue"],
        "NSAttributeDescription": ["NSPropertyDescription"], "NSRelationshipDescription": ["NSPropertyDescription"],
        "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
        "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
        "NSComparisonPredicate": ["NSPredicate"], "NSCompoundPredicate": ["NSPredicate"],
        "NSTruePredicate": ["NSPredicate"], "NSFalsePredicate": ["NSPredicate"],
        "NSComparisonPredicateOperator": ["NSPredicateOperator"],
        "NSEqualityPredicateOperator": ["NSPredicateOperator"],
        "NSMatchingPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
        "NSLikePredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
        "NSSubstringPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
        "NSInPredicateOperator": ["NSPredicateOperator"], "NSBetweenPredicateOperator": ["NSPredicateOperator"],
        "NSSelfExpression": ["NSExpression"], "NSConstantValueExpression": ["NSExpression"],
        "NSFunctionExpression": ["NSExpression"], "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"],
        "NSKeyPathSpecifierExpression": ["NSExpression"], "NSAggregateExpression": ["NSExpression"],
        "NSKnownKeysDictionary1": ["NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
        "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
    ]

    package mutating func object(_ type: String, _ fields: [(String, Value)]) -> Value {
        let type = self.type(type)
        return add(.dictionary(fields + [("$class", type)]))
    }

    /// Sets fields of an object that others refer to already.
    package mutating func set(_ object: Value, _ fields: [(String, Value)]) {
        guard case .reference(let index) = object, case .dictionary(let old) = objects[index] else { return }
        objects[index] = .dictionary(old + fields)
    }

    package mutating func array(_ members: [Value]) -> Value {
        object("NSMutableArray", [("NS.objects", .list(members))])
    }

    package mutating func dictionary(_ entries: [(String, Value)]) -> Value {
        let keys = entries.map { text($0.0) }
        return object("NSMutableDictionary", [("NS.keys", .list(keys)), ("NS.objects", .list(entries.map(\.1)))])
    }

    package func bytes(root: Value) -> [UInt8] {
        let file = Value.dictionary([
            ("$version", .integer(100_000)), ("$archiver", .text("NSKeyedArchiver")),
            ("$top", .dictionary([("root", root)])), ("$objects", .list(objects)),
        ])
        return Self.propertyList(file)
    }

    /// A value without references as a binary property list.
    package static func propertyList(_ value: Value) -> [UInt8] {
        var writer = PropertyListWriter()
        return writer.write(value)
    }
}

/// Writes a binary property list with indexes and offsets of four bytes.
private struct PropertyListWriter {
    private var items: [[UInt8]] = []

    mutating func write(_ value: KeyedArchiveWriter.Value) -> [UInt8] {
        let top = add(value)
        var bytes = BinaryPropertyList.signature
        var offsets: [UInt8] = []
        for item in items {
            offsets += Self.number(bytes.count, 4)
            bytes += item
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 4, 4]
        return bytes + Self.number(items.count, 8) + Self.number(top, 8) + Self.number(table, 8)
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15, 0x12] + number(count, 4)
    }

    private mutating func add(_ value: KeyedArchiveWriter.Value) -> Int {
        let index = items.count
        items.append([])
        switch value {
        case .text(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
            items[index] = Self.head(5, text.utf8.count) + Array(text.utf8)
        case .text(let text):
            items[index] = Self.head(6, text.utf16.count) + text.utf16.flatMap { Self.number(Int($0), 2) }
        case .integer(let number): items[index] = [0x13] + Self.number(Int(number), 8)
        case .real(let number): items[index] = [0x23] + Self.number(Int(truncatingIfNeeded: number.bitPattern), 8)
        case .data(let bytes): items[index] = Self.head(4, bytes.count) + bytes
        case .boolean(let flag): items[index] = [flag ? 9 : 8]
        case .reference(let number): items[index] = [0x83] + Self.number(number, 4)
        case .list(let members):
            let members = members.map { add($0) }
            items[index] = Self.head(0xA, members.count) + members.flatMap { Self.number($0, 4) }
        case .dictionary(let entries):
            let keys = entries.map { add(.text($0.0)) }, values = entries.map { add($0.1) }
            items[index] = Self.head(0xD, entries.count) + (keys + values).flatMap { Self.number($0, 4) }
        }
        return index
    }
}
