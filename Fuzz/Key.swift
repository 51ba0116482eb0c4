// Index keys: the keys of two values have the order of the values; complementing reverses it; no key is a prefix of
// another; a key is in the range of its own value, and in that of each prefix of its text.

import Foundation
import StrataModel

private func codec(_ value: AttributeValue, isAscending: Bool) -> IndexKeyCodec? {
    let kind: KeyKind? =
        switch value {
        case .boolean, .integer: .integer
        case .float, .double: .double
        case .date: .date
        case .decimal: .decimal
        case .string, .url: .text
        case .uuid: .uuid
        case .data: .data
        case .objectID: .objectID
        case .null, .blob, .composite, .encrypted: nil
        }
    return kind.map { IndexKeyCodec(elements: [.init(slot: 0, kind: $0, isAscending: isAscending)]) }
}

/// Nil if this file does not know the order.
private func isBelow(_ left: AttributeValue, _ right: AttributeValue) -> Bool? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.double(let left), .double(let right)): left.isNaN ? false : right.isNaN || left < right
    case (.decimal(let left), .decimal(let right)): left.isNaN ? false : right.isNaN || left < right
    case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
    case (.objectID(let left), .objectID(let right)): left < right
    case (.string(let left), .string(let right)):
        TextFolding.fold(left, []).utf8.lexicographicallyPrecedes(TextFolding.fold(right, []).utf8)
    default: nil
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var reader = ByteReader(UnsafeRawBufferPointer(start: data, count: size))
    guard let left = try? ValueCodec.decode(&reader), let right = try? ValueCodec.decode(&reader),
        let ascending = codec(left, isAscending: true), let descending = codec(left, isAscending: false)
    else { return 0 }
    guard let (leftKey, leftFit) = key(left, ascending), let turned = key(left, descending) else {
        preconditionFailure("a value without a key of its own kind")
    }
    precondition(turned.0 == leftKey.map { ~$0 }, "descending is not turned")
    if case .string(let text) = left { checkPrefixes(of: text, leftKey, ascending) }
    checkOwnRange(left, leftKey, ascending)
    checkOwnRange(left, turned.0, descending)
    guard let (rightKey, rightFit) = key(right, ascending) else { return 0 }
    guard leftFit == .whole, rightFit == .whole else { return 0 }
    precondition(leftKey == rightKey || !rightKey.starts(with: leftKey), "a key begins another")
    if let expected = isBelow(left, right) {
        precondition(leftKey.lexicographicallyPrecedes(rightKey) == expected, "keys in another order than values")
    }
    return 0
}

private func key(_ value: AttributeValue, _ codec: IndexKeyCodec) -> ([UInt8], KeyFit)? {
    var writer = ByteWriter()
    guard let fit = try? codec.append([value], to: &writer) else { return nil }
    return (writer.array, fit)
}

private func holds(_ range: KeyRange, _ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(range.lower) && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
}

private func checkOwnRange(_ value: AttributeValue, _ key: [UInt8], _ codec: IndexKeyCodec) {
    // NaN equals nothing, and the id 0 is nil, which is in no range.
    guard let equal = try? codec.range(then: .equal(value)), value != .objectID(ObjectID(rawValue: 0)) else { return }
    precondition(holds(equal, key), "a key outside the range of its value")
    let bound = KeyBound(value, isInclusive: true)
    for condition in [KeyCondition.range(lower: bound, upper: nil), .range(lower: nil, upper: bound)] {
        guard let range = try? codec.range(then: condition) else {
            preconditionFailure("no range up to or from a value")
        }
        precondition(holds(range, key), "a key outside the range that ends with its value")
    }
}

private func checkPrefixes(of text: String, _ key: [UInt8], _ codec: IndexKeyCodec) {
    let folded = TextFolding.fold(text, []).unicodeScalars
    for count in [1, folded.count / 2, folded.count] {
        let prefix = String(String.UnicodeScalarView(folded.prefix(count)))
        guard let range = try? codec.range(then: .beginsWith(prefix)) else { preconditionFailure("no range") }
        precondition(holds(range, key), "a key outside the range of its beginning")
    }
}
