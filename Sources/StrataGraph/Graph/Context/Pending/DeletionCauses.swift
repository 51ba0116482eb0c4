import StrataModel

/// The effects of pending deletions on other objects. A merge that takes a deletion back takes them back with it.
struct DeletionCauses {
    /// A to-one of an object.
    struct CutLink: Hashable {
        let object: ObjectID
        let toOne: PropertyID
    }

    /// The objects that the cascades of each deleted object reach.
    private var taken: [ObjectID: [ObjectID]] = [:]
    /// The to-ones that deletions have cleared, each with the deleted object that it led to.
    private(set) var cuts: [CutLink: ObjectID] = [:]

    var hasCuts: Bool { !cuts.isEmpty }

    /// The cascade of a deleted object reaches these.
    mutating func noteTaken(_ members: [ObjectID], by id: ObjectID) {
        if members.isEmpty { return }
        if taken[id] == nil { taken[id] = members } else { taken[id]?.append(contentsOf: members) }
    }

    /// The deletion of `target` has cleared a to-one that led to it.
    mutating func noteCut(_ toOne: PropertyID, of object: ObjectID, from target: ObjectID) {
        cuts[CutLink(object: object, toOne: toOne)] = target
    }

    /// The to-one is set again, or leads to its target again.
    mutating func forgetCut(_ toOne: PropertyID, of object: ObjectID) {
        cuts[CutLink(object: object, toOne: toOne)] = nil
    }

    /// The objects and all that their cascades reach.
    ///
    /// - Parameter isReached: whether an object belongs to them, and its cascades are followed.
    func reached(from first: some Sequence<ObjectID>, where isReached: (ObjectID) -> Bool) -> Set<ObjectID> {
        var reached = Set(first)
        var waiting = Array(reached)
        while let id = waiting.popLast() {
            for member in taken[id] ?? [] where isReached(member) && reached.insert(member).inserted {
                waiting.append(member)
            }
        }
        return reached
    }
}
