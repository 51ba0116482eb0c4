import StrataModel

/// One to-many of one owner in a context: pending changes, and what was counted or listed already.
///
/// It is made when the relationship is read or a change is folded in; see `PendingLinks`.
final class ToManyState {
    enum Pending: Equatable {
        case added(Int64)
        case removed
        /// Linked before; only its position is new.
        case moved(Int64)
    }

    let link: Link
    let owner: ObjectID
    private(set) var pending: [ObjectID: Pending] = [:]
    /// Added minus removed members.
    private(set) var difference = 0
    /// The value of the context's `generation` at which the properties below were read.
    var generation: Int
    /// Members that the store counts, those that are leaving left out.
    var baseCount: Int?
    /// Members that were counted and are not listed, since the file is damaged; part of `baseCount`.
    private(set) var lostCount = 0
    /// All members in order, changes included; nil until they are listed.
    private(set) var members: [ObjectID]?
    /// The positions of `members`, for ordered relationships.
    private(set) var positions: [Int64] = []
    /// The last position taken, once known.
    var lastPosition: Int64?

    init(link: Link, owner: ObjectID, generation: Int) {
        self.link = link
        self.owner = owner
        self.generation = generation
    }

    var hasChanges: Bool { !pending.isEmpty }

    /// Forgets what was read, not what was changed.
    func forgetBase(_ generation: Int) {
        self.generation = generation
        baseCount = nil
        lostCount = 0
        members = nil
        positions = []
        lastPosition = nil
    }

    func forgetChanges() {
        pending = [:]
        difference = 0
        members = nil
        positions = []
        lastPosition = nil
    }

    // MARK: Changing

    func add(_ member: ObjectID, at position: Int64 = 0) {
        switch pending[member] {
        case nil:
            pending[member] = .added(position)
            difference += 1
        case .removed?:
            pending[member] = link.isOrdered ? .moved(position) : nil
            difference += 1
        case .added?: pending[member] = .added(position)
        case .moved?: pending[member] = .moved(position)
        }
        if link.isOrdered { lastPosition = lastPosition.map { max($0, position) } }
        enterInMembers(member, position)
    }

    func remove(_ member: ObjectID) {
        switch pending[member] {
        case nil, .moved?:
            pending[member] = .removed
            difference -= 1
        case .added?:
            pending[member] = nil
            difference -= 1
        case .removed?: return
        }
        takeFromMembers(member)
    }

    /// Gives a member another position.
    func move(_ member: ObjectID, to position: Int64) {
        if case .added? = pending[member] {
            pending[member] = .added(position)
        } else {
            pending[member] = .moved(position)
        }
        lastPosition = lastPosition.map { max($0, position) }
        takeFromMembers(member)
        enterInMembers(member, position)
    }

    /// Drops a change that the store has made already.
    func settle(_ member: ObjectID) {
        switch pending.removeValue(forKey: member) {
        case .added?: difference -= 1
        case .removed?: difference += 1
        default: break
        }
        members = nil
    }

    /// The link is in the store by now; what is left of the change is the member's position.
    func settleAsMoved(_ member: ObjectID) {
        guard case .added(let position)? = pending[member] else { return }
        pending[member] = .moved(position)
        difference -= 1
        members = nil
    }

    // MARK: Members

    /// Takes what the store lists, in order, and puts the changes on top.
    ///
    /// - Parameter lost: how many more the store counts.
    func setMembers(base: [(id: ObjectID, position: Int64)], lost: Int = 0) {
        lostCount = lost
        baseCount = base.count + lost
        let merged = merged(with: base)
        members = merged.map(\.id)
        positions = link.isOrdered ? merged.map(\.position) : []
        if link.isOrdered { lastPosition = positions.last ?? .min }
    }

    /// Returns the stored members with the pending changes applied, in order.
    func merged(with base: [(id: ObjectID, position: Int64)]) -> [(id: ObjectID, position: Int64)] {
        guard !pending.isEmpty else { return base }
        var merged = base.filter { pending[$0.id] == nil }
        for (member, change) in pending {
            switch change {
            case .added(let position), .moved(let position): merged.append((member, position))
            case .removed: break
            }
        }
        merged.sort { ($0.position, $0.id) < ($1.position, $1.id) }
        return merged
    }

    /// Forgets the list, not what was changed.
    func forgetMembers() {
        members = nil
        positions = []
    }

    /// The index where (position, id) belongs among the members.
    private func index(of member: ObjectID, at position: Int64, in members: [ObjectID]) -> Int {
        members.indices.partitionPoint { index in
            (link.isOrdered ? positions[index] : 0, members[index]) < (position, member)
        }
    }

    private func enterInMembers(_ member: ObjectID, _ position: Int64) {
        guard var list = members.take() else { return }
        let index = index(of: member, at: position, in: list)
        if index >= list.count || list[index] != member {
            list.insert(member, at: index)
            if link.isOrdered { positions.insert(position, at: index) }
        }
        members = list
    }

    private func takeFromMembers(_ member: ObjectID) {
        guard var list = members.take() else { return }
        let found = link.isOrdered ? list.firstIndex(of: member) : index(of: member, at: 0, in: list)
        if let found, found < list.count, list[found] == member {
            list.remove(at: found)
            if link.isOrdered { positions.remove(at: found) }
        }
        members = list
    }
}

extension Optional {
    /// The value, leaving nil behind: a collection so taken out is changed in place.
    fileprivate mutating func take() -> Wrapped? {
        let value = self
        self = nil
        return value
    }
}

/// Names a to-many of an object.
struct ToManyKey: Hashable {
    let link: PropertyID
    let owner: ObjectID

    // Looked up for each walk over members. The store chooses the ids, so no attacker can make them collide, and one
    // multiplication spreads them well enough.
    func _rawHashValue(seed: Int) -> Int {
        let mixed =
            (owner.rawValue ^ UInt64(link.rawValue) << 40 ^ UInt64(bitPattern: Int64(seed))) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed ^ mixed >> 32)
    }
}

/// A member that came or went, and is not folded into the owner's state yet.
struct LinkChange {
    let link: PropertyID
    let isAdded: Bool
    let owner: ObjectID
    let member: ObjectID
}
