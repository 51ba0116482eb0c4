import Foundation
import StrataGraph
import StrataModel
import StrataXcode

/// Reads an `NSKeyedArchiver` archive of plain Foundation objects: text, numbers, dates, data, URLs, UUIDs, lists,
/// sets, dictionaries with keys of text, and colours as their components.
///
/// A set becomes a list in a fixed order. An archive with another class, a cycle, or other keys of a dictionary has no
/// value.
struct PlainArchive {
    private let archive: KeyedArchive
    /// The number of objects that may still be read: objects can share their parts, so that few bytes could stand for
    /// very many.
    private var left = 50_000

    private static let deepest = 64
    private static let scalars: Set = [
        "NSString", "NSMutableString", "NSDate", "NSData", "NSMutableData", "NSUUID", "NSDecimalNumber",
    ]
    private static let lists: Set = ["NSArray", "NSMutableArray", "NSOrderedSet", "NSMutableOrderedSet"]
    private static let sets: Set = ["NSSet", "NSMutableSet"]
    private static let dictionaries: Set = ["NSDictionary", "NSMutableDictionary"]
    private static let colours: Set = ["UIColor", "UIDeviceRGBColor", "UIDeviceWhiteColor", "NSColor"]

    /// The value of an archive; nil if it is of other objects, or no archive.
    static func value(of bytes: [UInt8]) -> PlainValue? {
        do throws(ArchiveError) {
            var reader = PlainArchive(archive: try KeyedArchive(bytes))
            return reader.value(reader.archive.root, Self.deepest)
        } catch {
            return nil
        }
    }

    private init(archive: KeyedArchive) { self.archive = archive }

    private mutating func value(_ object: KeyedArchive.Index, _ depth: Int) -> PlainValue? {
        left -= 1
        guard left >= 0, depth > 0 else { return nil }
        guard let name = archive.className(of: object) else {
            if archive.text(object) == "$null" { return .value(.null) }
            return archive.isPlain(object) ? ArchivedValue(archive).value(object).map { .value($0) } : nil
        }
        switch name {
        case "NSNull": return .value(.null)
        case "NSURL": return url(object).map { .value(.url($0)) }
        case _ where Self.scalars.contains(name): return ArchivedValue(archive).value(object).map { .value($0) }
        case _ where Self.lists.contains(name): return list(object, depth).map { .list($0) }
        case _ where Self.sets.contains(name): return list(object, depth).flatMap(Self.inOrder).map { .list($0) }
        case _ where Self.dictionaries.contains(name): return entries(object, depth)
        case _ where Self.colours.contains(name): return colour(object).map { .entries($0) }
        default: return nil
        }
    }

    private mutating func list(_ object: KeyedArchive.Index, _ depth: Int) -> [PlainValue]? {
        var list: [PlainValue] = []
        for member in archive.members(of: object) {
            guard let value = value(member, depth - 1) else { return nil }
            list.append(value)
        }
        return list
    }

    /// Members of a set, sorted by their bytes, so that equal sets are equal.
    private static func inOrder(_ members: [PlainValue]) -> [PlainValue]? {
        do {
            return try members.map { (try $0.storedBytes, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
        } catch {
            return nil
        }
    }

    private mutating func entries(_ object: KeyedArchive.Index, _ depth: Int) -> PlainValue? {
        let named = archive.entries(of: object)
        guard named.count == archive.members(of: object).count else { return nil }
        var entries: [String: PlainValue] = [:]
        for (name, member) in named {
            guard let value = value(member, depth - 1) else { return nil }
            entries[name] = value
        }
        return entries.count == named.count ? .entries(entries) : nil
    }

    private func url(_ object: KeyedArchive.Index) -> URL? {
        guard let text = archive.text(archive.field("NS.relative", of: object)) else { return nil }
        guard let base = archive.field("NS.base", of: object) else { return URL(string: text) }
        // A base that has a base itself is not followed further.
        guard let start = archive.text(archive.field("NS.relative", of: base)), let url = URL(string: start),
            archive.field("NS.base", of: base) == nil
        else { return nil }
        return URL(string: text, relativeTo: url)?.absoluteURL
    }

    // MARK: Colours

    /// Red, green, blue and alpha between 0 and 1; a colour of another space, such as a pattern, has none.
    private func colour(_ object: KeyedArchive.Index) -> [String: PlainValue]? {
        let named = ["UIRed", "UIGreen", "UIBlue"].compactMap { number($0, object) }
        if named.count == 3 { return Self.colour(named + [number("UIAlpha", object) ?? 1]) }
        if let white = number("UIWhite", object) {
            return Self.colour([white, white, white, number("UIAlpha", object) ?? 1])
        }
        if let parts = components("NSRGB", object), parts.count == 3 || parts.count == 4 {
            return Self.colour(parts.count == 3 ? parts + [1] : parts)
        }
        if let parts = components("NSWhite", object), let white = parts.first, parts.count <= 2 {
            return Self.colour([white, white, white, parts.count == 2 ? parts[1] : 1])
        }
        return nil
    }

    private static func colour(_ parts: [Double]) -> [String: PlainValue] {
        Dictionary(
            uniqueKeysWithValues: zip(["red", "green", "blue", "alpha"], parts.map { .value(.double($0)) }))
    }

    private func number(_ name: String, _ object: KeyedArchive.Index) -> Double? {
        let field = archive.field(name, of: object)
        return archive.real(field) ?? archive.integer(field).map { Double($0) }
    }

    /// Numbers as text with spaces, and a zero byte at the end.
    private func components(_ name: String, _ object: KeyedArchive.Index) -> [Double]? {
        guard let bytes = archive.data(archive.field(name, of: object)) else { return nil }
        let words = bytes.prefix { $0 != 0 }.split(separator: UInt8(ascii: " "))
        let parts = words.compactMap { Double(String(decoding: $0, as: UTF8.self)) }
        return parts.count == words.count && parts.allSatisfy(\.isFinite) ? parts : nil
    }
}
