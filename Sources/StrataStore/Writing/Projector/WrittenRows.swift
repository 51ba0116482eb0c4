import StrataModel

/// The rows that a batch has written or removed.
struct WrittenRows: ~Copyable {
    /// A row whose new bytes are in the batch, or one that was removed.
    enum Row {
        case removed
        case written(offset: Int, size: Int)
    }

    private struct Span: BitwiseCopyable {
        var offset: Int
        /// -1 for a removed row.
        var size: Int
    }

    private var spans = ObjectTable(filler: Span(offset: 0, size: 0))

    subscript(_ id: ObjectID) -> Row? {
        spans[id].map { $0.size < 0 ? .removed : .written(offset: $0.offset, size: $0.size) }
    }

    mutating func note(_ id: ObjectID, _ row: Row) {
        switch row {
        case .removed: spans.set(id, to: Span(offset: 0, size: -1))
        case .written(let offset, let size): spans.set(id, to: Span(offset: offset, size: size))
        }
    }

    /// Removes all and keeps the memory.
    mutating func removeAll() { spans.removeAll() }
}
