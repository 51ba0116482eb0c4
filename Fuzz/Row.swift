// Row images of any bytes: reading, checking, compacting, converting and making keys of them never traps or reads
// outside them. A row that validates is what a builder makes of its values. Compacting twice is compacting once.

import Foundation
import StrataModel

private let kinds: [(AttributeType?, isExternal: Bool)] = [
    (.boolean, false), (.integer16, false), (.integer32, false), (.integer64, false), (.float, false),
    (.double, false), (.date, false), (.decimal, false), (.uuid, false), (.objectID, false), (nil, false),
    (.string, false), (.uri, false), (.binaryData, false), (.transformable, false), (.binaryData, true),
    (.composite, false), (.undefined, false),
]

private func makeLayout(version: UInt32, _ slots: [Int]) -> RowLayout {
    let properties = slots.enumerated().map { slot, index in
        let kind: PropertySchema.Kind =
            if let type = kinds[index].0 {
                .attribute(
                    AttributeDescription(
                        name: "a", type: type, allowsExternalBinaryDataStorage: kinds[index].isExternal))
            } else {
                .position(of: PropertyID(rawValue: 1))
            }
        return PropertySchema(id: PropertyID(rawValue: UInt32(index + 1)), slot: slot, name: "p\(slot)", kind: kind)
    }
    return RowLayout(entityID: EntityID(rawValue: 1), version: ModelVersion(rawValue: version), properties: properties)
}

private let layout = makeLayout(version: 1, Array(kinds.indices))
private let newer = makeLayout(version: 2, kinds.indices.reversed().filter { $0 % 3 != 0 })
private let converter = try? RowConverter(from: layout, to: newer, bornDefaults: [:])
private let keys = kinds.indices.compactMap { slot in
    KeyKind(layout.entries[slot].kind).map {
        IndexKeyCodec(elements: [
            .init(slot: slot, kind: $0, isAscending: slot % 2 == 0, folding: StringFolding(rawValue: UInt8(slot % 4)))
        ])
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    // With a valid header, so that the fuzzer does not spend its time on eight known bytes.
    let bytes = Array(layout.emptyRow[..<8] + UnsafeBufferPointer(start: data, count: size))
    return bytes.withUnsafeBytes { bytes in
        guard let row = try? RowReader(bytes, layout: layout) else { return 0 }
        readEverything(row)
        if let image = try? layout.canonicalize(bytes) {
            let again = try? image.bytes.withUnsafeBytes { try layout.canonicalize($0) }
            precondition(again == image, "compacting changes a compact row")
        }
        if let converted = try? converter?.convert(bytes) {
            precondition((try? converted.withReader(newer) { $0.count }) == converted.count)
        }
        guard (try? row.validate()) != nil else { return 0 }
        var builder = RowBuilder(layout)
        for slot in 0..<layout.slotCount {
            guard let value = try? row.value(slot), (try? builder.set(slot, value)) != nil else {
                preconditionFailure("a valid row with a value that cannot be stored")
            }
        }
        precondition((try? builder.finish().bytes) == Array(bytes), "a valid row reads as other bytes")
        return 0
    }
}

/// Consumes bytes, so that the compiler keeps the reads.
nonisolated(unsafe) private var digest: UInt64 = 0

private func readEverything(_ row: RowReader) {
    var writer = ByteWriter()
    for slot in 0..<layout.slotCount {
        _ = try? row.value(slot)
        if row.kind(slot).isVariableWidth {
            if let bytes = try? row.bytes(slot) { digest &+= XXH64.hash(bytes) }
            _ = try? row.blob(slot)
        }
    }
    for key in keys {
        writer.reset()
        _ = try? key.append(row, to: &writer)
        precondition(writer.count <= IndexKeyCodec.maximumLength + 8192)
    }
}
