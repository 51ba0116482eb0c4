import StrataModel

/// Reads the keys of groups where a key path crosses a to-many.
///
/// An object belongs once to the group of each different combination of values among its members, and to the group of
/// nil if it has no members. Key paths that cross the same to-many are read from the same member.
struct GroupExpansion: Sendable {
    /// The keys to read at one object, and the to-manys that lead on from it.
    private struct Node: Sendable {
        /// Paths without a to-many, each for a key.
        var values: [(key: Int, path: ValuePath)] = []
        var branches: [Branch] = []
    }

    /// The members of a to-many, behind to-ones.
    private struct Branch: Sendable {
        let toOnes: [ResolvedPath.Hop]
        let link: PropertyID
        var node = Node()
    }

    private var root = Node()
    private let keyCount: Int

    /// Nil if no key path crosses a to-many.
    init?(_ keys: [String], _ entity: EntitySchema, _ schema: Schema) throws(StrataError) {
        keyCount = keys.count
        for (key, text) in keys.enumerated() {
            let path = try ResolvedPath.of(text, in: entity, schema)
            Self.insert(path.hops[...], path.end, key, into: &root)
        }
        if root.branches.isEmpty { return nil }
    }

    private static func insert(
        _ hops: ArraySlice<ResolvedPath.Hop>, _ end: ResolvedPath.End, _ key: Int, into node: inout Node
    ) {
        guard let index = hops.firstIndex(where: \.isToMany), case .toMany(let link) = hops[index] else {
            return node.values.append((key, ValuePath(hops: Array(hops), end: end)))
        }
        let toOnes = Array(hops[..<index])
        let known = node.branches.firstIndex { $0.link == link && $0.toOnes == toOnes }
        if known == nil { node.branches.append(Branch(toOnes: toOnes, link: link)) }
        insert(hops[(index + 1)...], end, key, into: &node.branches[known ?? node.branches.count - 1].node)
    }

    /// The combinations of key values of an object; equal ones may come several times.
    func combinations(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation
    ) throws -> [[AttributeValue]] {
        try extended([Array(repeating: .null, count: keyCount)], by: root, row, id, evaluation)
    }

    private func extended(
        _ combinations: [[AttributeValue]], by node: Node, _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation
    ) throws -> [[AttributeValue]] {
        var result = combinations
        for (key, path) in node.values {
            let value = try path.value(row, id, evaluation)
            for index in result.indices { result[index][key] = value }
        }
        try evaluation.snapshot?.spend(values: result.count)
        for branch in node.branches {
            let owner = try ValuePath(hops: branch.toOnes, end: .object).value(row, id, evaluation)
            guard case .objectID(let owner) = owner, let snapshot = evaluation.snapshot else { continue }
            var found: [[AttributeValue]] = []
            for member in try snapshot.members(of: branch.link, owner: owner) {
                try evaluation.withRow(member) { row in
                    guard let row else { return }
                    found += try extended(result, by: branch.node, row, member, evaluation)
                }
                try snapshot.meter.check(more: found.count * keyCount * MemoryLayout<AttributeValue>.stride)
            }
            if !found.isEmpty { result = found }
        }
        return result
    }
}
