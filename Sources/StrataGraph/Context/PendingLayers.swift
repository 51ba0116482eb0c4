import StrataModel
import StrataStore

/// The context's unsaved changes as layers that a fetch reads above the store.
///
/// An object's row enters a layer once; its next change makes it enter a newer one. Small layers are made one with the
/// one below when they have grown as large, so that many fetches among many changes stay cheap.
struct PendingLayers {
    struct Rows {
        let layer: Layer
        let objects: ContiguousArray<ManagedObject>
        /// Deleted without an object.
        let absent: ContiguousArray<ObjectID>

        var count: Int { objects.count + absent.count }
    }

    var rows: [Rows] = []
    var pairs: Layer?
    var pairGeneration = -1
    var seen = ChangeCursor()

    var all: [Layer] {
        if rows.isEmpty, pairs == nil { return [] }
        return rows.map(\.layer) + (pairs.map { [$0] } ?? [])
    }
}

extension ManagedObjectContext {
    /// Layers that show every unsaved change.
    func pendingLayers() throws -> [Layer] {
        try addRowLayer()
        if layers.pairGeneration != pairGeneration {
            foldLinkChanges()
            layers.pairs = pairGeneration == 0 ? nil : try makePairLayer()
            layers.pairGeneration = pairGeneration
        }
        return layers.all
    }

    private func addRowLayer() throws {
        // Most fetches find the context as the last one did.
        guard hasNews(since: layers.seen) else { return }
        let firstRow = layers.seen.deletedRows
        var fresh = listed(since: &layers.seen)
        var absent = ContiguousArray(deletedRows.ids[firstRow...])
        guard !fresh.isEmpty || !absent.isEmpty else { return }
        while let last = layers.rows.last, last.count <= (fresh.count + absent.count) * 2 {
            fresh = last.objects + fresh
            absent = last.absent + absent
            layers.rows.removeLast()
        }
        layers.rows.append(
            PendingLayers.Rows(layer: try makeLayer(fresh, absent: absent), objects: fresh, absent: absent))
    }

    private func makeLayer(
        _ objects: ContiguousArray<ManagedObject>, absent: ContiguousArray<ObjectID>
    ) throws -> Layer {
        var builder = Layer.Builder(schema: binding.schema)
        // One that has an object by now is among the objects, as what it is.
        for id in absent where deletedRows.contains(id) { builder.setAbsent(id) }
        for object in objects {
            let flags = object._flags
            if flags.contains(.deleted) || flags.contains(.withdrawn) {
                builder.setAbsent(object.objectID)
            } else if object._base != nil || flags.contains(.inserted) {
                builder.setRow(object.objectID, try object.canonicalImage(), revision: object._revision)
                object._state |= ObjectState.layered
            } else {
                object._state |= ObjectState.layered
            }
        }
        return builder.finish()
    }

    private func makePairLayer() throws -> Layer {
        var builder = Layer.Builder(schema: binding.schema)
        for change in try pairChanges()
        where !vanished.contains(change.key.source) && !vanished.contains(change.key.target) {
            switch change.kind {
            case .link(let positions), .move(let positions): builder.setPair(change.key, positions)
            case .unlink: builder.setPair(change.key, nil)
            }
        }
        return builder.finish()
    }

    /// Every pair that was linked, unlinked or moved, once.
    func pairChanges() throws -> [ChangeSet.PairChange] {
        var found: [PairKey: (change: ToManyState.Pending, inSource: Int64?, inTarget: Int64?)] = [:]
        for state in toManyStates.values where state.link.isPairs && state.hasChanges {
            if isGone(state.owner) { continue }
            for (member, change) in state.pending where !isGone(member) {
                guard let key = state.link.pairKey(owner: state.owner, member: member) else { continue }
                var entry = found[key] ?? (change, nil, nil)
                if case .moved = entry.change { entry.change = change }
                let position: Int64? =
                    switch change {
                    case .added(let position), .moved(let position): position
                    case .removed: nil
                    }
                let isSource = state.link.isSource(state.owner, of: key)
                if isSource { entry.inSource = position } else { entry.inTarget = position }
                found[key] = entry
            }
        }
        let changes = try found.map { key, entry in
            ChangeSet.PairChange(key: key, kind: try kind(key, entry.change, entry.inSource, entry.inTarget))
        }
        return changes.sorted {
            ($0.key.property, $0.key.source, $0.key.target) < ($1.key.property, $1.key.source, $1.key.target)
        }
    }

    private func kind(
        _ key: PairKey, _ change: ToManyState.Pending, _ inSource: Int64?, _ inTarget: Int64?
    ) throws -> ChangeSet.PairChange.Kind {
        switch change {
        case .added: return .link(PairPositions(inSource: inSource ?? 0, inTarget: inTarget ?? 0))
        case .removed: return .unlink
        case .moved:
            // The end that was not moved keeps its place.
            let inSource = try inSource ?? storedPosition(of: key.target, key.property, owner: key.source)
            let inverse = binding.link(key.property).flatMap { link -> PropertyID? in
                if case .pairs(_, _, _, let inverse) = link.source { inverse } else { nil }
            }
            let other = try inTarget ?? inverse.map { try storedPosition(of: key.source, $0, owner: key.target) }
            return .move(PairPositions(inSource: inSource, inTarget: other ?? 0))
        }
    }

    private func storedPosition(of member: ObjectID, _ link: PropertyID, owner: ObjectID) throws -> Int64 {
        guard binding.link(link)?.isOrdered ?? false else { return 0 }
        return try read { try $0.position(of: member, in: link, owner: owner) } ?? 0
    }

    private func isGone(_ id: ObjectID) -> Bool {
        if deletedRows.contains(id) { return true }
        return map[id].map { $0._state & (ObjectState.deleted | ObjectState.inaccessible | ObjectState.detached) != 0 }
            ?? false
    }
}

extension ManagedObject {
    final func canonicalImage() throws -> RowImage {
        do { return try _entity.layout.canonicalize(rowBytes) } catch { throw corruption(error) }
    }
}
