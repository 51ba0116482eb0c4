/// Writes archives as `NSKeyedArchiver` does: objects by class, as a binary property list.
package struct OldArchive {
    package init() {}

    package indirect enum Value {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        case uid(Int)
        case real(Double)
        case data([UInt8])
        case list([Value])
        case dictionary([(String, Value)])
    }

    /// The objects; the first is `$null`.
    package private(set) var objects: [Value] = [.text("$null")]
    private var classes: [String: Int] = [:]

    package mutating func add(_ value: Value) -> Value {
        objects.append(value)
        return .uid(objects.count - 1)
    }

    private mutating func type(_ name: String) -> Value {
        if let known = classes[name] { return .uid(known) }
        let added = add(.dictionary([("$classname", .text(name))]))
        classes[name] = objects.count - 1
        return added
    }

    package mutating func object(_ type: String, _ fields: [(String, Value)]) -> Value {
        let type = self.type(type)
        return add(.dictionary(fields + [("$class", type)]))
    }

    /// Sets fields of an object that others refer to already.
    package mutating func set(_ object: Value, _ fields: [(String, Value)]) {
        guard case .uid(let index) = object, case .dictionary(let old) = objects[index] else { return }
        objects[index] = .dictionary(old + fields)
    }

    package mutating func array(_ members: [Value]) -> Value {
        object("NSMutableArray", [("NS.objects", .list(members))])
    }

    package mutating func dictionary(_ entries: [(String, Value)]) -> Value {
        let keys = entries.map { add(.text($0.0)) }
        return object("NSMutableDictionary", [("NS.keys", .list(keys)), ("NS.objects", .list(entries.map(\.1)))])
    }

    /// A stereotype with the values of its properties.
    package mutating func stereotype(_ values: [(String, Value)]) -> Value {
        let properties = values.map { ($0.0, object("XDUMLPropertyImp", [("_default", $0.1)])) }
        return object("XDUMLStereotypeImp", [("XDBucketForOwnedAttributesstorage", dictionary(properties))])
    }

    package func bytes(root: Value) -> [UInt8] {
        var writer = PropertyListWriter()
        let file = Value.dictionary([
            ("$version", .integer(100_000)), ("$archiver", .text("NSKeyedArchiver")),
            ("$top", .dictionary([("root", root)])), ("$objects", .list(objects)),
        ])
        return writer.write(file)
    }
}

/// Writes a binary property list with indexes and offsets of four bytes.
private struct PropertyListWriter {
    private var items: [[UInt8]] = []

    mutating func write(_ value: OldArchive.Value) -> [UInt8] {
        let top = add(value)
        var bytes = Array("bplist00".utf8)
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

    private mutating func add(_ value: OldArchive.Value) -> Int {
        let index = items.count
        items.append([])
        switch value {
        case .text(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
            items[index] = Self.head(5, text.utf8.count) + Array(text.utf8)
        case .text(let text):
            items[index] = Self.head(6, text.utf16.count) + text.utf16.flatMap { Self.number(Int($0), 2) }
        case .integer(let number): items[index] = [0x13] + Self.number(Int(number), 8)
        case .real(let number): items[index] = [0x23] + Self.number(Int(bitPattern: UInt(number.bitPattern)), 8)
        case .data(let bytes): items[index] = Self.head(4, bytes.count) + bytes
        case .boolean(let flag): items[index] = [flag ? 9 : 8]
        case .uid(let number): items[index] = [0x83] + Self.number(number, 4)
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
