import LMDB
import StrataModel

extension Verifier {
    /// Checks every row by itself, against the log, and against indexes and links.
    func checkRows() throws {
        var counter = ProgressCounter("checking rows", total: try transaction.count(tables.objects), progress)
        var entities = ProjectedEntities(histories.newest)
        oneToOnes = OneToOneEnds(histories.newest)
        var seen = 0
        try scan(tables.objects) { key, value in
            counter.step()
            guard key.count == 8 else {
                note(.row, "key \(key.hexadecimal)", "it is no object's id")
                return
            }
            let id = StoreKey.objectID(key, at: 0)
            objectCount += 1
            entityCounts[id.entityID, default: 0] += 1
            let newest = log.objects[id]
            if newest?.isAlive ?? false { seen += 1 }
            checkRow(id, value, newest, &entities)
        }
        guard log.isReplayable, log.count(alive: true) != seen else { return }
        for (id, _) in log.sorted(alive: true) {
            if try transaction.get(tables.objects, id.rawValue) == nil {
                note(.row, name(id), "the log has it, but there is no row")
            }
        }
    }

    /// In a quick verification, only the data that counters need.
    func countObjects() throws {
        try scan(tables.objects) { key, _ in
            objectCount += 1
            if key.count == 8 { entityCounts[StoreKey.objectID(key, at: 0).entityID, default: 0] += 1 }
        }
    }

    private func checkRow(
        _ id: ObjectID, _ value: UnsafeRawBufferPointer, _ newest: LogFindings.Newest?,
        _ entities: inout ProjectedEntities
    ) {
        do {
            let stored = try StoredRow(value)
            let layout = try histories.layout(of: stored.image, id: id)
            let reader = try RowReader(stored.image, layout: layout)
            try reader.validate()
            checkRevision(id, stored.revision, newest)
            guard let entity = try entities[id.entityID] else { return }
            try checkIndexes(id, entity, reader, layout)
            try checkLinks(id, entity, reader, layout)
            oneToOnes.add(id, reader, layout)
        } catch let error as CorruptRecord {
            note(.row, name(id), "\(error.reason) (byte \(error.offset))")
        } catch {
            note(.row, name(id), "\(error)")
        }
    }

    private func checkRevision(_ id: ObjectID, _ revision: EventNumber, _ newest: LogFindings.Newest?) {
        guard log.isReplayable else { return }
        guard let newest, newest.isAlive else {
            note(.revision, name(id), "there is a row, but the log does not have the object")
            return
        }
        if newest.eventNumber != revision {
            note(.revision, name(id), "the row is of event \(revision), the newest in the log is \(newest.eventNumber)")
        }
    }

    // MARK: Entries that rows require

    private func checkIndexes(
        _ id: ObjectID, _ entity: ProjectedEntity, _ reader: RowReader, _ layout: RowLayout
    ) throws {
        for number in entity.indexes.indices {
            let index = entity.indexes[number].index
            guard
                try IndexKeys.write(index, of: entity.schema, reader, layout, id, entity.plan, into: &keyWriter)
            else { continue }
            expectedIndexes.add(keyWriter.bytes)
            if expectedIndexes.isFull { try findIndexEntries() }
        }
    }

    private func checkLinks(
        _ id: ObjectID, _ entity: ProjectedEntity, _ reader: RowReader, _ layout: RowLayout
    ) throws {
        for index in entity.links.indices {
            let link = entity.links[index]
            guard let (owner, position) = Projector.end(of: link, reader, layout, entity.schema) else { continue }
            try expectLink(PairLink(link: link.link, owner: owner, position: position, member: id))
        }
    }

    func expectLink(_ link: PairLink) throws {
        StoreKey.withLink(link.link, owner: link.owner, position: link.position, member: link.member) {
            expectedLinks.add($0)
        }
        if expectedLinks.isFull { try findLinkEntries() }
    }

    func name(_ link: PropertyID, _ owner: ObjectID) -> String { names.name(of: link, owner) }

    // MARK: Pairs

    func checkPairs() throws {
        let links = histories.newest?.links ?? .empty
        var seen = 0
        try scan(tables.pairs) { key, value in
            guard let pair = StoreKey.pair(key) else {
                note(.pair, "key \(key.hexadecimal)", "it is no pair's")
                return
            }
            do {
                let state = try PairState(value)
                if log.pairs[pair] != nil { seen += 1 }
                if log.isReplayable, log.pairs[pair] != state.revision {
                    note(
                        .pair, name(pair),
                        log.pairs[pair].map { "it is of event \(state.revision), the newest in the log is \($0)" }
                            ?? "the log does not have it")
                }
                for link in links.entries(of: pair, state.positions) { try expectLink(link) }
                // Deleting an object does not unlink it from relationships that have left the model.
                if links.link(pair.property) != nil { try checkEnds(pair) }
            } catch let error as CorruptRecord {
                note(.pair, name(pair), "\(error.reason)")
            }
        }
        guard log.isReplayable, seen != log.pairs.count else { return }
        for pair in log.pairs.keys where try StoreKey.withPair(pair, { try transaction.get(tables.pairs, $0) }) == nil {
            note(.pair, name(pair), "the log has it, but there is no record")
        }
    }

    private func checkEnds(_ pair: PairKey) throws {
        let ends = Set([pair.source, pair.target])
        for end in ends where try transaction.get(tables.objects, end.rawValue) == nil {
            note(.pair, name(pair), "\(name(end)) is not there")
        }
        if histories.newest?.isStray(pair) ?? true { goneLinkCount += 1 }
    }

    private func name(_ pair: PairKey) -> String { "\(name(pair.property, pair.source)) - \(name(pair.target))" }
}
