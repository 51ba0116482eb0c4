public import StrataModel

// In this folder: links between objects in memory. `ToMany` is what apps use, `ManagedObject+Links` sets to-ones,
// `ManagedObject+ToMany` changes members, `ToManyState` and `ManagedObjectContext+Links` know what has changed.

/// The members of a to-many relationship, read when needed.
///
/// `count`, `contains`, `insert` and `remove` load no member; iterating reads the members' ids once and makes faults.
/// A value got from an object stays tied to it: what it shows follows every change. One made from an array holds
/// these objects until it is assigned.
///
/// ```swift
/// member.favoriteMovies.insert(movie)      // movie.familyMember is now member
/// for movie in member.favoriteMovies where movie.rating > 4 { print(movie.title) }
/// ```
///
/// Members of an unordered relationship come in the order in which they were made.
public struct ToMany<Member: ManagedObject> {
    @usableFromInline enum Storage {
        case live(owner: ManagedObject, index: Int)
        case list(MemberList<Member>)
    }
    @usableFromInline let storage: Storage

    /// Generated accessors make it so.
    public init(owner: ManagedObject, index: Int) { storage = .live(owner: owner, index: index) }

    /// Holds `members` until it is assigned to a property.
    public init(_ members: some Sequence<Member>) { storage = .list(MemberList(Array(members))) }
}

@usableFromInline final class MemberList<Member: ManagedObject> {
    @usableFromInline var members: [Member]

    init(_ members: [Member]) { self.members = members }
}

extension ToMany: ExpressibleByArrayLiteral {
    /// Holds the members until it is assigned to a property.
    public init(arrayLiteral members: Member...) { self.init(members) }
}

extension ToMany {
    /// The number of members.
    public var count: Int {
        switch storage {
        case .list(let list): list.members.count
        case .live(let owner, let index): owner.toManyCount(at: index)
        }
    }

    /// Whether there are no members; loads none.
    public var isEmpty: Bool { count == 0 }

    /// Whether `member` is one of the members.
    public func contains(_ member: Member) -> Bool {
        switch storage {
        case .list(let list): list.members.contains { $0 === member }
        case .live(let owner, let index): owner.toManyContains(member, at: index)
        }
    }

    /// Adds a member, at the end of an ordered relationship; nothing happens if it is one already.
    public func insert(_ member: Member) {
        switch storage {
        case .list(let list): if !contains(member) { list.members.append(member) }
        case .live(let owner, let index): owner.reporting { try owner.addMember(member, at: index, position: nil) }
        }
    }

    /// The same as `insert(_:)`.
    public func append(_ member: Member) { insert(member) }

    /// The same as `insert(contentsOf:)`.
    public func append(contentsOf members: some Sequence<Member>) { insert(contentsOf: members) }

    /// Adds several members.
    public func insert(contentsOf members: some Sequence<Member>) {
        for member in members { insert(member) }
    }

    /// Puts a member at a position of an ordered relationship, also if it is a member already.
    ///
    /// A position behind the last member is the end. An unordered relationship ignores the position.
    public func insert(_ member: Member, at position: Int) {
        switch storage {
        case .list(let list): list.members.insert(member, at: position)
        case .live(let owner, let index):
            owner.reporting { try owner.addMember(member, at: index, position: position) }
        }
    }

    /// Takes a member away; nothing happens if it is not one.
    public func remove(_ member: Member) {
        switch storage {
        case .list(let list): list.members.removeAll { $0 === member }
        case .live(let owner, let index): owner.reporting { try owner.removeMember(member, at: index) }
        }
    }

    /// Takes the member at a position away, and returns it.
    @discardableResult
    public func remove(at position: Int) -> Member {
        let member = self[position]
        remove(member)
        return member
    }

    /// Takes every member away.
    public func removeAll() {
        for member in Array(self) { remove(member) }
    }

    /// Moves the member at position `source` of an ordered relationship to position `destination`.
    public func move(from source: Int, to destination: Int) {
        let member = self[source]
        guard source != destination else { return }
        switch storage {
        case .list(let list):
            list.members.remove(at: source)
            list.members.insert(member, at: destination)
        case .live(let owner, let index):
            owner.reporting { try owner.moveMember(from: source, to: destination, at: index) }
        }
    }

    /// The ids of the members in order; makes no object.
    public var objectIDs: [ObjectID] {
        switch storage {
        case .list(let list): list.members.map(\.objectID)
        case .live(let owner, let index): owner.toManyIDs(at: index)
        }
    }
}

extension ToMany: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of members.
    public var endIndex: Int { count }

    /// The member at a position, as a fault if it is not in memory.
    public subscript(position: Int) -> Member {
        switch storage {
        case .list(let list): return list.members[position]
        case .live(let owner, let index): return owner.member(atPosition: position, at: index, as: Member.self)
        }
    }

    /// Iterates over the members as they are now; changes during the iteration do not affect it.
    @inlinable public func makeIterator() -> Iterator {
        switch storage {
        case .list(let list): Iterator(context: nil, members: list.members, ids: [])
        case .live(let owner, let index):
            Iterator(context: owner._context, members: [], ids: owner._toManyIDs(at: index))
        }
    }

    /// Goes through the members that there were when it was made.
    public struct Iterator: IteratorProtocol {
        // Held here, so that a step retains nothing but the member.
        @usableFromInline let context: ManagedObjectContext?
        /// The same; nil for members of an array.
        @usableFromInline let reference: Unmanaged<ManagedObjectContext>?
        @usableFromInline let members: [Member]
        @usableFromInline let ids: [ObjectID]
        @usableFromInline var index = 0
        /// Whether the context knows of the walk, as it does from the first fault on.
        @usableFromInline var isNoted = false

        @usableFromInline init(context: ManagedObjectContext?, members: [Member], ids: [ObjectID]) {
            self.context = context
            reference = context.map(Unmanaged.passUnretained)
            self.members = members
            self.ids = ids
        }

        /// The next member; nil after the last.
        @inlinable public mutating func next() -> Member? {
            guard let reference else {
                guard index < members.count else { return nil }
                index += 1
                return members[index - 1]
            }
            guard index < ids.count else { return nil }
            index += 1
            // Retaining the context takes as long as finding the member does. It is held here, for it may be used
            // below.
            let member = reference._withUnsafeGuaranteedRef { $0._member(ids[index - 1], as: Member.self) }
            if member._state & ObjectState.fault != 0, !isNoted {
                isNoted = true
                context?._noteWalk(ids, from: index - 1)
            }
            return member
        }
    }
}

extension ToMany: CustomStringConvertible {
    /// The entity of the members and their number.
    public var description: String { "\(Member.entityName) × \(count)" }
}
