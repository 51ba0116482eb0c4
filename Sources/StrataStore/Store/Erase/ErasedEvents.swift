import Foundation
import StrataModel

/// Makes the events of one object without the values that are erased, or that a thinning drops.
struct EventEraser {
    /// The shortest text that is looked for in the metadata of transactions, in bytes.
    private static let shortestText = 4

    /// The value that replaces each erased value.
    let fillers: [PropertyID: AttributeValue]
    /// Attributes whose newest value stays: derived ones of an object that stays, which are derived from what is left,
    /// and those that a thinning has not met yet.
    var kept: Set<PropertyID>
    /// Says in the events why values are gone.
    let mark: EventFlags
    let histories: SchemaHistory
    /// The large values that the events no longer name, once for each event.
    private(set) var blobs: [BlobReference] = []
    /// The texts that were erased.
    private(set) var texts: Set<String> = []

    init(
        _ fillers: [PropertyID: AttributeValue], keeping kept: Set<PropertyID> = [], _ histories: SchemaHistory,
        mark: EventFlags = .redacted
    ) {
        self.fillers = fillers
        self.kept = kept
        self.mark = mark
        self.histories = histories
    }

    /// The record without the values; nil if it has none of them. Events of an object come from the newest to the
    /// oldest.
    mutating func erased(_ event: EventView) throws -> [UInt8]? {
        guard !event.isBare else { return nil }
        let payload: [UInt8]?
        switch event.header.kind {
        case .inserted: payload = try image(event.payload, event.header.object, names: true)
        case .updated: payload = try changes(event)
        case .deleted: payload = try deleted(event)
        default: payload = nil
        }
        return payload.map { $0.withUnsafeBytes { event.reduced(to: $0, mark) } }
    }

    private mutating func image(
        _ image: UnsafeRawBufferPointer, _ id: ObjectID, names isNaming: Bool
    ) throws -> [UInt8]? {
        let layout = try histories.layout(of: image, id: id)
        let reader = try RowReader(image, layout: layout)
        var builder = try RowBuilder(image, layout: layout)
        var isChanged = false
        for (slot, description) in layout.slots.enumerated() where description.storage != nil {
            guard let filler = fillers[description.propertyID] else { continue }
            if isNaming, kept.contains(description.propertyID) { continue }
            let value = try reader.value(slot)
            let fitting = filler.fitting(description)
            if value.isIdentical(to: fitting) { continue }
            note(value, named: isNaming)
            try builder.set(slot, fitting)
            isChanged = true
        }
        return isChanged ? try builder.finish().bytes : nil
    }

    private mutating func changes(_ event: EventView) throws -> [UInt8]? {
        var changes = try event.changes()
        var isChanged = false
        for index in changes.indices {
            let property = changes[index].property
            guard let filler = fillers[property] else { continue }
            let recorded = RecordedValue.value(filler)
            if changes[index].before != recorded {
                if case .value(let value) = changes[index].before { note(value, named: false) }
                changes[index].before = recorded
                isChanged = true
            }
            if kept.remove(property) != nil { continue }
            if changes[index].after != recorded {
                if case .value(let value) = changes[index].after { note(value, named: true) }
                changes[index].after = recorded
                isChanged = true
            }
        }
        guard isChanged else { return nil }
        var writer = ByteWriter()
        try writer.append(changes: changes)
        return writer.array
    }

    private mutating func deleted(_ event: EventView) throws -> [UInt8]? {
        switch try event.deleted() {
        case .image(let last):
            return try image(last, event.header.object, names: false).map { [0] + $0 }
        case .values(var values):
            var isChanged = false
            for index in values.indices {
                guard let filler = fillers[values[index].property], values[index].value != .value(filler) else {
                    continue
                }
                if case .value(let value) = values[index].value { note(value, named: false) }
                values[index].value = .value(filler)
                isChanged = true
            }
            guard isChanged else { return nil }
            var writer = ByteWriter()
            try writer.append(lastValues: values)
            return writer.array
        }
    }

    /// - Parameter isNaming: whether the event counts among those that name a large value.
    private mutating func note(_ value: AttributeValue, named isNaming: Bool) {
        switch value {
        case .blob(let reference): if isNaming { blobs.append(reference) }
        case .string(let text): note(text)
        case .url(let url): note(url.absoluteString)
        case .composite(let elements): for element in elements.values { note(element, named: isNaming) }
        default: break
        }
    }

    /// Metadata are searched for erased values only.
    private mutating func note(_ text: String) {
        if mark == .redacted, text.utf8.count >= Self.shortestText { texts.insert(text) }
    }
}
