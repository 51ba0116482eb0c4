/// The objects that `NSKeyedArchiver` wrote: dictionaries of fields, with references to each other.
///
/// The property list has the list `$objects`, in which references are positions, and under `$top` the first object.
/// A reference to the text `$null` is nil.
package struct KeyedArchive {
    /// An object of the archive: the index of its property list.
    package typealias Index = Int

    private let list: BinaryPropertyList
    private let archived: [Index]
    package let root: Index

    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        list = try BinaryPropertyList(bytes)
        guard case .dictionary(let file) = list.objects[list.top], let objects = file["$objects"],
            case .list(let archived) = list.objects[objects], let top = file["$top"],
            case .dictionary(let first) = list.objects[top], let root = first["root"]
        else { throw ArchiveError("it is not an archive of objects") }
        self.archived = archived
        guard case .reference(let number) = list.objects[root], archived.indices.contains(number) else {
            throw ArchiveError("its first object is missing")
        }
        self.root = archived[number]
    }

    /// The object that a reference leads to; another object itself; nil if it leads to nothing.
    private func followed(_ index: Index) -> Index? {
        guard case .reference(let number) = list.objects[index] else { return index }
        return archived.indices.contains(number) ? archived[number] : nil
    }

    /// A field of an object; nil if it has none, or nil in it.
    package func field(_ name: String, of object: Index?) -> Index? {
        guard let object, case .dictionary(let fields) = list.objects[object] else { return nil }
        guard let value = fields[name].flatMap(followed) else { return nil }
        if case .text("$null") = list.objects[value] { return nil }
        return value
    }

    package func className(of object: Index) -> String? { text(field("$classname", of: field("$class", of: object))) }

    /// Whether the object is a text, a number, a truth value or data as a property list has them.
    package func isPlain(_ object: Index) -> Bool {
        switch list.objects[object] {
        case .text, .integer, .boolean, .real, .data: true
        default: false
        }
    }

    package func text(_ object: Index?) -> String? {
        if let object, case .text(let text) = list.objects[object] { text } else { nil }
    }

    package func integer(_ object: Index?) -> Int64? {
        if let object, case .integer(let number) = list.objects[object] { number } else { nil }
    }

    package func real(_ object: Index?) -> Double? {
        if let object, case .real(let number) = list.objects[object] { number } else { nil }
    }

    package func boolean(_ object: Index?) -> Bool? {
        if let object, case .boolean(let value) = list.objects[object] { value } else { nil }
    }

    package func isTrue(_ object: Index?) -> Bool {
        guard let object else { return false }
        return switch list.objects[object] {
        case .boolean(let value): value
        case .integer(let number): number != 0
        default: false
        }
    }

    /// The bytes of data, also of an archived `NSMutableData`.
    package func data(_ object: Index?) -> [UInt8]? {
        guard let object else { return nil }
        if case .data(let range) = list.objects[object] { return list.data(range) }
        guard let field = field("NS.data", of: object), case .data(let range) = list.objects[field] else { return nil }
        return list.data(range)
    }

    /// The members of an archived array or set.
    package func members(of object: Index?) -> [Index] {
        guard let objects = field("NS.objects", of: object), case .list(let list) = list.objects[objects] else {
            return []
        }
        return list.compactMap(followed)
    }

    /// The entries of an archived dictionary whose keys are texts.
    package func entries(of object: Index?) -> [(key: String, value: Index)] {
        guard let keys = field("NS.keys", of: object), case .list(let names) = list.objects[keys] else { return [] }
        return zip(names, members(of: object)).compactMap { name, value in
            text(followed(name)).map { ($0, value) }
        }
    }
}
