import LMDB
import StrataModel

/// A group of a view in some state.
struct ViewGroup {
    /// The whole key without the view's number.
    let key: [UInt8]
    /// The key of the group's record.
    let stored: [UInt8]
    let state: GroupState

    init(_ view: PreparedView, _ key: [UInt8], _ state: GroupState) {
        self.key = key
        self.state = state
        stored = ViewKeys.stored(view.id, key)
    }

    init(key: [UInt8], stored: [UInt8], state: GroupState) {
        self.key = key
        self.stored = stored
        self.state = state
    }
}

extension Snapshot {
    /// Calls `body` with each group that may meet a condition, in the order of their records.
    func forEachGroup(of view: PreparedView, _ access: ViewAccess, _ body: (ViewGroup) throws -> Void) throws {
        var count = 0
        func visit(_ group: ViewGroup) throws {
            guard group.state.rowCount > 0 else { return }
            count += 1
            try body(group)
        }
        let kept = try kept(view)
        if let tables = kept.tables {
            if let changes = try changes(of: view, since: kept) {
                try forEachGroup(of: view, access, tables, changes, visit)
            } else {
                try forEachStoredGroup(of: view, access, tables, visit)
            }
        } else {
            let changes = GroupChanges()
            try group(view, where: { !kept.leftOut.contains($0) }, into: changes)
            try touchedGroups(of: view, access, nil, changes).forEach(visit)
        }
        // As in rows of values: without keys there is one group even if there are no objects.
        if count == 0, view.keys.isEmpty { try body(ViewGroup(view, [], GroupState(view))) }
    }

    private func forEachGroup(
        of view: PreparedView, _ access: ViewAccess, _ tables: ViewTables, _ changes: GroupChanges,
        _ body: (ViewGroup) throws -> Void
    ) throws {
        var touched = try touchedGroups(of: view, access, tables, changes)[...]
        let keys = Set(touched.map(\.stored))
        try forEachStoredGroup(of: view, access, tables) { group in
            while let first = touched.first, first.stored.lexicographicallyPrecedes(group.stored) {
                try body(touched.removeFirst())
            }
            if !keys.contains(group.stored) { try body(group) }
        }
        try touched.forEach(body)
    }

    private func forEachStoredGroup(
        of view: PreparedView, _ access: ViewAccess, _ tables: ViewTables, _ body: (ViewGroup) throws -> Void
    ) throws {
        try forEachRecord(of: view, access, tables) { stored, record in
            let (key, state) = try decode(stored, record, view)
            if access.mayMeet(key) { try body(ViewGroup(key: key, stored: Array(stored), state: state)) }
        }
    }

    /// Calls `body` with key and value of each record whose group may meet a condition.
    func forEachRecord(
        of view: PreparedView, _ access: ViewAccess, _ tables: ViewTables,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if access.isOneGroup {
            try spend(rows: 1)
            try ViewKeys.stored(view.id, access.keyPrefix).withUnsafeBytes { stored in
                if let record = try transaction.get(tables.groups, stored) { try body(stored, record) }
            }
            return
        }
        try ViewKeys.prefix(view.id, access.keyPrefix).withUnsafeBytes { prefix in
            try transaction.withCursor(tables.groups) { cursor in
                var found = try cursor.seek(atOrAfter: prefix)
                while found, cursor.key.hasPrefix(prefix) {
                    try spend(rows: 1)
                    try body(cursor.key, cursor.value)
                    found = try cursor.next()
                }
            }
        }
    }

    /// The group that the tables have under the key of its record.
    func storedGroup(of view: PreparedView, _ stored: [UInt8], _ tables: ViewTables) throws -> ViewGroup? {
        try stored.withUnsafeBytes { bytes in
            guard let record = try transaction.get(tables.groups, bytes) else { return nil }
            let (key, state) = try decode(bytes, record, view)
            return ViewGroup(key: key, stored: stored, state: state)
        }
    }

    /// The groups that changes touch, as they are with the changes, in the order of their records. Some may be empty.
    func touchedGroups(
        of view: PreparedView, _ access: ViewAccess, _ tables: ViewTables?, _ changes: GroupChanges
    ) throws -> [ViewGroup] {
        var groups: [ViewGroup] = []
        for key in changes.keys where access.mayMeet(key) {
            let stored = ViewKeys.stored(view.id, key)
            if let state = try laid(changes, over: tables, stored, key, view) {
                groups.append(ViewGroup(key: key, stored: stored, state: state))
            }
        }
        // The order of records is not quite that of whole keys, because long ones are cut.
        groups.sort { $0.stored.lexicographicallyPrecedes($1.stored) }
        return groups
    }

    private func laid(
        _ changes: GroupChanges, over tables: ViewTables?, _ stored: [UInt8], _ key: [UInt8], _ view: PreparedView
    ) throws -> GroupState? {
        do {
            return try changes.laid(over: tables, stored, key: key, view, transaction)
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(error, "viewGroups", view.context)
        }
    }

    private func decode(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ view: PreparedView
    ) throws -> (key: [UInt8], state: GroupState) {
        do throws(CorruptRecord) {
            return try GroupState.decode(key, value, view)
        } catch {
            throw StrataError.corrupt(error, "viewGroups", view.context)
        }
    }

    /// Adds all objects of this state to a view's groups.
    ///
    /// - Parameter isMember: whether an object belongs to the view at all.
    func group(
        _ view: PreparedView, where isMember: (ObjectID) -> Bool = { _ in true }, into changes: GroupChanges
    ) throws {
        let evaluation = Evaluation(self)
        for entity in view.entities {
            guard let entity = schema.entity(entity) else { continue }
            try forEachRow(of: entity) { id, row in
                if isMember(id) { try view.noting(id) { try view.add(row, id, 1, evaluation, to: changes) } }
                return true
            }
        }
    }
}
