import StrataModel

/// Copies of a few events that were decoded out of blocks, while they are needed together.
struct EventCopies: ~Copyable {
    private var buffer: UnsafeMutableRawBufferPointer?
    private var used = 0
    /// Room for ten of the largest events.
    private static let capacity = 1 << 16

    deinit { buffer?.deallocate() }

    func hasRoom(for event: EventView) -> Bool { used + event.record.count <= Self.capacity }

    /// The event with its bytes in the buffer; they are valid until `removeAll`.
    mutating func copy(_ event: EventView) -> EventView {
        precondition(hasRoom(for: event), "There is no room for a copy of an event.")
        let buffer = buffer ?? .allocate(byteCount: Self.capacity, alignment: 8)
        self.buffer = buffer
        defer { used += (event.record.count + 7) & ~7 }
        return event.copied(to: UnsafeMutableRawBufferPointer(rebasing: buffer[used...]))
    }

    mutating func removeAll() { used = 0 }
}
