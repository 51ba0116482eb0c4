import LMDB
import StrataModel

/// The place of an event that was found in a data file: a record of its own, or the event at an index of a block.
struct FoundEvent {
    let location: LeafScan.Location
    var index: Int?
}

/// Reads blocks that were found in a data file, and keeps the events of the last one.
final class FoundBlocks {
    private let reader = EventBlockReader()
    private var offset: Int?
    private var events: [[UInt8]] = []

    /// Returns the number of events that can be read from a block; nil for bytes that are no block.
    func count(_ block: UnsafeRawBufferPointer) -> Int? {
        do {
            try reader.open(block)
            defer { reader.close() }
            while try reader.next() {}
            return reader.count
        } catch {
            return nil
        }
    }

    /// The whole record of an event.
    func event(_ index: Int, of location: LeafScan.Location, _ bytes: [UInt8]) -> [UInt8]? {
        if offset != location.offset {
            offset = location.offset
            events = bytes.withUnsafeBytes(read)
        }
        return events.indices.contains(index) ? events[index] : nil
    }

    private func read(_ block: UnsafeRawBufferPointer) -> [[UInt8]] {
        var events: [[UInt8]] = []
        defer { reader.close() }
        do {
            try reader.open(block)
            while try reader.next() {
                EventDigest.complete(reader)
                events.append(Array(reader.record))
            }
        } catch {
            // It was read before, so the file has changed meanwhile.
            return []
        }
        return events
    }
}
