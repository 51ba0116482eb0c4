/// The keys of records of `viewTexts` (TextPostings.swift).
package enum TextKey {
    package static let whole: UInt8 = 0
    package static let lengths: UInt8 = 1
    package static let terms: UInt8 = 2
    /// The bytes of a group at the end of a key.
    package static let groupSize = 7

    /// Returns the part of an id that all objects of a group share.
    @inline(__always)
    package static func group(_ id: ObjectID) -> UInt64 { id.rawValue >> 8 }
    @inline(__always)
    package static func member(_ id: ObjectID) -> UInt8 { UInt8(truncatingIfNeeded: id.rawValue) }

    package static func begin(_ view: ViewID, _ kind: UInt8, into writer: inout ByteWriter) {
        writer.reset()
        writer.append(bigEndian: view.rawValue)
        writer.append(kind)
    }

    @inline(__always)
    package static func append(group: UInt64, to writer: inout ByteWriter) {
        // The highest byte of the number is 0 and left out.
        writer.append(UInt8(truncatingIfNeeded: group >> 48))
        writer.append(UInt8(truncatingIfNeeded: group >> 40))
        writer.append(UInt8(truncatingIfNeeded: group >> 32))
        writer.append(bigEndian: UInt32(truncatingIfNeeded: group))
    }

    /// The key of the lengths of a group.
    package static func lengths(_ view: ViewID, _ group: UInt64, into writer: inout ByteWriter) {
        begin(view, lengths, into: &writer)
        append(group: group, to: &writer)
    }

    /// The beginning of the keys of a term, or of all terms that begin with it.
    package static func term(
        _ view: ViewID, _ term: [UInt8], isPrefix: Bool, into writer: inout ByteWriter
    ) {
        begin(view, terms, into: &writer)
        term.withUnsafeBytes { writer.append($0) }
        if !isPrefix { writer.append(UInt8(0)) }
    }

    /// The group at the end of a key.
    @inline(__always)
    package static func group(of key: UnsafeRawBufferPointer) -> UInt64 {
        var group: UInt64 = 0
        for byte in key.suffix(groupSize) { group = group << 8 | UInt64(byte) }
        return group
    }
}
