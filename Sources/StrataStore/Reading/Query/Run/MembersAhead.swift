import StrataModel

/// Reads the members of many owners in one pass over the links, where a run visits owners in the order of their ids.
///
/// Opening a cursor and seeking costs more than reading the few members of most owners. After three owners in ascending
/// order the links of those that follow are read too, some hundred at once. A run that visits owners in another order,
/// or whose owners have many members, soon reads each by itself again.
final class MembersAhead {
    private var relationships: [AheadReading] = []

    /// Calls `body` with each member of a to-many in order until it returns false.
    func members(
        of relationship: PropertyID, owner: ObjectID, _ snapshot: Snapshot, _ body: (ObjectID) throws -> Bool
    ) throws {
        guard snapshot.readsLinksAhead else { return try snapshot.members(of: relationship, owner: owner, body) }
        for reading in relationships where reading.relationship == relationship {
            return try reading.members(of: owner, snapshot, body)
        }
        let reading = AheadReading(relationship)
        relationships.append(reading)
        try reading.members(of: owner, snapshot, body)
    }
}

/// What a run has read of one relationship.
private final class AheadReading {
    let relationship: PropertyID
    private var links = LinksAhead()
    private var last = ObjectID(rawValue: 0)
    private var ascents = 0
    /// The number of ascents before links are read ahead; it doubles after each pass that few owners used.
    private var enough = 3
    /// The number of owners that used the last pass; nil before the first.
    private var hits: Int?
    /// The number of links that are read in one pass.
    private static let limit = 512
    /// A pass pays if so many owners use it.
    private static let fewHits = 8

    init(_ relationship: PropertyID) { self.relationship = relationship }

    func members(of owner: ObjectID, _ snapshot: Snapshot, _ body: (ObjectID) throws -> Bool) throws {
        if !links.covers(owner), isAscending(to: owner) { try readAhead(from: owner, snapshot) }
        guard links.covers(owner) else { return try snapshot.members(of: relationship, owner: owner, body) }
        hits = (hits ?? 0) + 1
        // A body that asks for members of the same relationship may replace the links.
        let links = links
        var place = links.firstPlace(of: owner)
        while place < links.owners.count, links.owners[place] == owner, try body(links.members[place]) { place += 1 }
    }

    private func isAscending(to owner: ObjectID) -> Bool {
        ascents = owner > last ? ascents + 1 : 0
        last = owner
        return ascents > enough
    }

    private func readAhead(from owner: ObjectID, _ snapshot: Snapshot) throws {
        if let hits, hits < Self.fewHits {
            links = LinksAhead()
            (ascents, enough, self.hits) = (0, enough > 1 << 30 ? .max : enough * 2, nil)
            return
        }
        hits = 0
        do {
            links = try snapshot.linksAhead(of: relationship, from: owner, atMost: Self.limit)
        } catch {
            // A damaged page may belong to owners that the run does not reach. If it does reach them, reading one
            // throws the error.
            links = LinksAhead()
            enough = .max
        }
        try snapshot.spend(members: links.owners.count)
    }
}

/// The links of some owners that follow each other, by owner, then in the order of members.
struct LinksAhead {
    /// Of each link.
    var owners: [ObjectID] = []
    var members: [ObjectID] = []
    /// The first owner whose links are all there, and the first after it whose links are not.
    var first = ObjectID(rawValue: 0)
    var end = ObjectID(rawValue: 0)

    func covers(_ owner: ObjectID) -> Bool { owner >= first && owner < end }

    /// The place of the first link of an owner, or of a later one.
    func firstPlace(of owner: ObjectID) -> Int {
        var (low, high) = (0, owners.count)
        while low < high {
            let middle = (low + high) / 2
            if owners[middle] < owner { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Evaluation {
    /// Calls `body` with each member of a to-many in order until it returns false.
    func members(of relationship: PropertyID, owner: ObjectID, _ body: (ObjectID) throws -> Bool) throws {
        guard let snapshot else { return }
        if let ahead { return try ahead.members(of: relationship, owner: owner, snapshot, body) }
        try snapshot.members(of: relationship, owner: owner, body)
    }
}
