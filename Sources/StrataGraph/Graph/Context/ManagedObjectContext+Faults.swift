import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Reads rows of the state that the context shows.
    func readRows(_ body: (RowReading) throws -> Void) throws {
        try binding.store.readRows(at: base, layers: inherited, through: binding.schema, body)
    }

    /// Fires a fault for a property that cannot throw.
    func fire(_ object: ManagedObject) {
        do {
            try load(object)
        } catch {
            report(Self.typed(error))
            return
        }
        if object._state & ObjectState.inaccessible != 0, !shouldDeleteInaccessibleFaults {
            report(Self.noObject(object.objectID, object._entity.name))
        }
    }

    /// Reads the object's row, and those of objects that are likely to be asked for next; an object that is not there
    /// becomes inaccessible.
    func load(_ object: ManagedObject) throws {
        guard object._state & ObjectState.fault != 0 else { return }
        if !memory.faultRuns.isEmpty {
            let following = memory.faultRuns.following(object.objectID)
            if !following.isEmpty { return try load(object, before: faults(following)) }
        }
        var isThere = false
        let start = startOfTimedWork
        try readRows { isThere = try Self.load(object, from: $0) }
        if let start { tellOfFaults(1, since: start) }
        noteLoaded(object, isThere)
    }

    /// Returns those of these objects that are not in memory.
    private func faults(_ ids: ArraySlice<ObjectID>) -> ContiguousArray<ManagedObject> {
        var faults: ContiguousArray<ManagedObject> = []
        faults.reserveCapacity(ids.count)
        for id in ids where !pending.deletedRows.contains(id) {
            guard let object = map[id] ?? binding.entity(id.entityID).map({ makeFault(id, $0) }) else { continue }
            if object.isFault, !object.isDeleted { faults.append(object) }
        }
        return faults
    }

    /// Reads the object and the faults that follow it in one read. A following object that cannot be read stays a
    /// fault; its error is reported when it fires.
    private func load(_ object: ManagedObject, before following: ContiguousArray<ManagedObject>) throws {
        var isThere = false
        var readCount = 0
        let start = startOfTimedWork
        try readRows { rows in
            var isRead = false
            do {
                try rows.forEachRow(1 + following.count, id: { ($0 == 0 ? object : following[$0 - 1]).objectID }) {
                    guard $0 > 0 else {
                        isThere = try Self.adopt($1, object)
                        isRead = true
                        return true
                    }
                    guard try Self.adopt($1, following[$0 - 1]) else { return false }
                    following[$0 - 1].becomeLoaded()
                    readCount += 1
                    return true
                }
            } catch {
                // The app has not asked for the others yet. They stay faults and report the error when they fire.
                if !isRead { isThere = try Self.load(object, from: rows) }
            }
        }
        if let start { tellOfFaults(1 + readCount, since: start) }
        noteLoaded(object, isThere)
        for other in following.prefix(readCount) where !other.isFault { wake(other) }
    }

    @inline(__always)
    private func noteLoaded(_ object: ManagedObject, _ isThere: Bool) {
        guard isThere else { return object.becomeGone() }
        object.becomeLoaded()
        wake(object)
    }

    private func wake(_ object: ManagedObject) {
        for error in unreadableValues(of: object.objectID) { report(error) }
        object.awakeFromFetch()
    }

    /// Reads the values of objects that are faults, in one read of the store.
    func fill<Object: ManagedObject>(_ objects: [Object]) throws {
        // The list keeps them; references to them go uncounted.
        var faults: ContiguousArray<Unmanaged<ManagedObject>> = []
        faults.reserveCapacity(objects.count)
        for object in objects where object.isFault { faults.append(.passUnretained(object)) }
        guard !faults.isEmpty else { return }
        var readCount = 0
        // Also of objects that were read before a damaged one.
        defer {
            for object in faults.prefix(readCount) {
                object._withUnsafeGuaranteedRef {
                    if $0._state & ObjectState.inaccessible == 0 { wake($0) }
                }
            }
            withExtendedLifetime(objects) {}
        }
        try readRows { rows in
            try rows.forEachRow(faults.count) {
                faults[$0]._withUnsafeGuaranteedRef { $0.objectID }
            } _: { index, row in
                try faults[index]._withUnsafeGuaranteedRef { object in
                    // The list may name an object twice.
                    guard object.isFault else { return }
                    if try Self.adopt(row, object) { object.becomeLoaded() } else { object.becomeGone() }
                    faults[readCount] = faults[index]
                    readCount += 1
                }
                return true
            }
        }
    }

    /// Reads the faults that the app still holds, since they cannot fire when the context is gone.
    ///
    /// No code of the app runs here, which could hold on to a context that goes.
    func readHeldFaults() {
        map.sweep()
        var faults: [ManagedObject] = []
        map.forEach { if $0.isFault { faults.append($0) } }
        guard !faults.isEmpty else { return }
        do {
            try readRows { rows in
                for object in faults where try Self.load(object, from: rows) { object.becomeLoaded() }
            }
        } catch {
            report(Self.typed(error))
        }
    }

    /// Gives the object its row; false when there is none.
    @inline(__always)
    static func load(_ object: ManagedObject, from rows: RowReading) throws -> Bool {
        try adopt(try rows.row(object.objectID), object)
    }

    @inline(__always)
    private static func adopt(_ row: SnapshotRow?, _ object: ManagedObject) throws -> Bool {
        guard let row else { return false }
        if row.isIn(object._entity.layout), object._entity.layout.fits(row.image) {
            object.adoptRow(row.image, revision: row.revision)
        } else {
            try convert(row, for: object)
        }
        return true
    }

    /// Adopts a row of an older layout, or reports its damage.
    @inline(never)
    private static func convert(_ row: SnapshotRow, for object: ManagedObject) throws {
        let entity = object._entity
        guard row.isIn(entity.layout) else {
            let image = try row.converted(to: entity.schema)
            return image.bytes.withUnsafeBytes { object.adoptRow($0, revision: row.revision) }
        }
        do {
            let reader = try row.reader
            for slot in entity.layout.variableSlots where !reader.isNull(slot) {
                _ = try reader.variableBytes(reader.entry(slot))
            }
        } catch {
            throw StrataError(
                .corrupt, "The object's row is damaged.",
                context: .init(entityName: entity.name, objectID: object.objectID), cause: error)
        }
        object.adoptRow(row.image, revision: row.revision)
    }
}
