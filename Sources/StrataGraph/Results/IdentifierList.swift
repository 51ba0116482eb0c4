import StrataModel

/// The ids of results in order, in chunks of about 512, so that a change copies some chunks and shares the others.
///
/// An element is found in O(log n). A batch of k changes takes O(k + n / 512).
struct IdentifierList: Sendable {
    private var chunks: [[ObjectID]] = []
    /// The index of each chunk's first id.
    private var starts: [Int] = []
    private(set) var count = 0

    private static let chunkSize = 512

    init() {}

    init(_ ids: [ObjectID]) { append(ids[...]) }

    private mutating func append(_ ids: ArraySlice<ObjectID>) {
        var rest = ids
        while !rest.isEmpty {
            let size = rest.count > Self.chunkSize * 2 ? Self.chunkSize : rest.count
            appendChunk(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
    }

    private mutating func appendChunk(_ chunk: [ObjectID]) {
        guard !chunk.isEmpty else { return }
        starts.append(count)
        chunks.append(chunk)
        count += chunk.count
    }

    /// Appends a changed chunk, to the chunk before it where both are small.
    private mutating func appendChanged(_ ids: [ObjectID]) {
        guard let last = chunks.last, last.count + ids.count <= Self.chunkSize, last.count < Self.chunkSize / 2 else {
            return append(ids[...])
        }
        chunks[chunks.count - 1] += ids
        count += ids.count
    }

    /// An id to insert, and the number of staying ids before it.
    struct Inserted {
        let gap: Int
        let id: ObjectID
    }

    /// The list without the ids at some indexes (ascending), and with others inserted between those that stay (in
    /// order).
    func applying(removing removed: [Int], inserting insertions: [Inserted]) -> IdentifierList {
        var result = IdentifierList()
        var removal = 0
        var insertion = 0
        var stayed = 0
        for (number, chunk) in chunks.enumerated() {
            let start = starts[number]
            let end = start + chunk.count
            let firstRemoval = removal
            while removal < removed.count, removed[removal] < end { removal += 1 }
            let staying = chunk.count - (removal - firstRemoval)
            let firstInsertion = insertion
            while insertion < insertions.count, insertions[insertion].gap < stayed + staying { insertion += 1 }
            if removal == firstRemoval, insertion == firstInsertion {
                result.appendChunk(chunk)
            } else {
                result.appendChanged(
                    Self.changed(
                        chunk, start, removed[firstRemoval..<removal], stayed, insertions[firstInsertion..<insertion]))
            }
            stayed += staying
        }
        if insertion < insertions.count { result.appendChanged(insertions[insertion...].map(\.id)) }
        return result
    }

    private static func changed(
        _ chunk: [ObjectID], _ start: Int, _ removals: ArraySlice<Int>, _ stayed: Int,
        _ insertions: ArraySlice<Inserted>
    ) -> [ObjectID] {
        var removals = removals
        var insertions = insertions
        var stayed = stayed
        var ids: [ObjectID] = []
        ids.reserveCapacity(chunk.count + insertions.count)
        for (offset, id) in chunk.enumerated() {
            if removals.first == start + offset {
                removals.removeFirst()
                continue
            }
            while let next = insertions.first, next.gap <= stayed {
                ids.append(next.id)
                insertions.removeFirst()
            }
            ids.append(id)
            stayed += 1
        }
        return ids + insertions.map(\.id)
    }
}

extension IdentifierList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> ObjectID {
        let chunk = starts.partitionPoint { $0 <= position } - 1
        return chunks[chunk][position - starts[chunk]]
    }
}

/// The sections of a list of results: their names, and where each ends.
struct SectionList: Sendable, Equatable {
    var names: [String] = []
    /// The index after each section's last object.
    var ends: [Int] = []

    /// One section for all objects, of results without a section key path.
    init(single count: Int) { (names, ends) = ([""], [count]) }

    init() {}

    var count: Int { names.count }

    func range(_ section: Int) -> Range<Int> { (section == 0 ? 0 : ends[section - 1])..<ends[section] }

    /// The section that contains the object at an index of the whole list.
    func section(of index: Int) -> Int { ends.partitionPoint { $0 <= index } }
}
