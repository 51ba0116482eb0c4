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

    private var rows: [Rows] = []
    private var pairs: Layer?
    private var pairGeneration = -1

    var all: [Layer] {
        if rows.isEmpty, pairs == nil { return [] }
        return rows.map(\.layer) + (pairs.map { [$0] } ?? [])
    }

    /// Removes the newest layers of rows that are small compared with a new one.
    ///
    /// - Returns: the objects that they cover, which the new one must cover.
    mutating func takeSmallLayers(
        under objects: ContiguousArray<ManagedObject>, _ absent: ContiguousArray<ObjectID>
    ) -> (objects: ContiguousArray<ManagedObject>, absent: ContiguousArray<ObjectID>) {
        var (objects, absent) = (objects, absent)
        while let last = rows.last, last.count <= (objects.count + absent.count) * 2 {
            objects = last.objects + objects
            absent = last.absent + absent
            rows.removeLast()
        }
        return (objects, absent)
    }

    mutating func add(_ layer: Rows) { rows.append(layer) }

    func hasPairs(of generation: Int) -> Bool { pairGeneration == generation }

    mutating func setPairs(_ layer: Layer?, of generation: Int) {
        pairs = layer
        pairGeneration = generation
    }
}

extension ManagedObjectContext {
    /// The rows under the layers changed, or their revisions did: the next fetch makes them again.
    func invalidateLayers() {
        layers = PendingLayers()
        pending.rewind(.layers)
    }

    /// Layers that show every unsaved change.
    func pendingLayers() throws -> [Layer] {
        try addRowLayer()
        let generation = pendingLinks.pairGeneration
        if !layers.hasPairs(of: generation) {
            foldLinkChanges()
            layers.setPairs(generation == 0 ? nil : try makePairLayer(), of: generation)
        }
        return layers.all
    }

    private func addRowLayer() throws {
        // Most fetches find the context as the last one did.
        guard pending.hasNews(for: .layers) else { return }
        let news = pending.news(for: .layers)
        let (objects, absent) = layers.takeSmallLayers(under: news.objects, ContiguousArray(news.deletedRows))
        guard !objects.isEmpty || !absent.isEmpty else { return }
        layers.add(
            PendingLayers.Rows(layer: try makeLayer(objects, absent: absent), objects: objects, absent: absent))
    }

    private func makeLayer(
        _ objects: ContiguousArray<ManagedObject>, absent: ContiguousArray<ObjectID>
    ) throws -> Layer {
        var builder = Layer.Builder(schema: binding.schema)
        // A row that has an object by now is listed with the objects.
        for id in absent where pending.deletedRows.contains(id) { builder.setAbsent(id) }
        for object in objects {
            let flags = object._flags
            if flags.contains(.deleted) || flags.contains(.withdrawn) {
                builder.setAbsent(object.objectID)
            } else if object._base != nil || flags.contains(.inserted) {
                builder.setRow(object.objectID, try object.canonicalImage(), revision: object._revision)
                object.markSeen()
            } else {
                object.markSeen()
            }
        }
        return builder.finish()
    }

    private func makePairLayer() throws -> Layer {
        var builder = Layer.Builder(schema: binding.schema)
        for change in try pairChanges()
        where !pending.vanished.contains(change.key.source) && !pending.vanished.contains(change.key.target) {
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
        for state in pendingLinks.states.values where state.link.isPairs && state.hasChanges {
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
        return changes.sorted { $0.key < $1.key }
    }

    private func kind(
        _ key: PairKey, _ change: ToManyState.Pending, _ inSource: Int64?, _ inTarget: Int64?
    ) throws -> ChangeSet.PairChange.Kind {
        switch change {
        case .added: return .link(PairPositions(inSource: inSource ?? 0, inTarget: inTarget ?? 0))
        case .removed: return .unlink
        case .moved:
            // The end that was not moved keeps its position.
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
        if pending.deletedRows.contains(id) { return true }
        return map[id].map { $0._state & (ObjectState.deleted | ObjectState.inaccessible | ObjectState.detached) != 0 }
            ?? false
    }
}

extension ManagedObject {
    final func canonicalImage() throws -> RowImage {
        do { return try _entity.layout.canonicalize(rowBytes) } catch { throw corruption(error) }
    }
}
