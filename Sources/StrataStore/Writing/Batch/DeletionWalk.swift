// Applies the model's delete rules (`DeletionWalk`) to objects, pending rows and stored rows.

public import StrataModel

/// Holds the objects that a deletion changes: objects of a context, rows of a context without an object in memory, or
/// stored rows of a batch.
///
/// `DeletionWalk` decides, by the delete rules of the model, the effects of a deletion on other objects; a host carries
/// it out.
@usableFromInline package protocol DeletionHost {
    /// An object that the host has just deleted, as the host reads it.
    associatedtype Deleted

    var schema: Schema { get }

    /// Whether the store does not know the object.
    func isUnsaved(_ object: Deleted) -> Bool
    /// Whether the object is deleted already.
    func isDeleted(_ id: ObjectID) -> Bool
    /// Returns the target of a to-one of the object.
    func target(of toOne: SlotLink, in object: Deleted, _ id: ObjectID) throws -> ObjectID?
    /// The members of a deleted object.
    func members(of link: Link, owner: ObjectID) throws -> [ObjectID]

    /// Another object loses the deleted one as a member.
    ///
    /// - Parameter isGoing: whether the owner is to be deleted too.
    mutating func lose(
        _ deleted: ObjectID, from owner: ObjectID, _ link: PropertyID, isGoing: Bool)
    /// Clears the to-one of another object, if it leads to the deleted one.
    mutating func cut(_ toOne: PropertyID, of object: ObjectID, from deleted: ObjectID) throws
    /// The cascade of the deleted object reaches these, some of which may be deleted already.
    mutating func cascade(to members: [ObjectID], from deleted: ObjectID)
}

extension DeletionHost {
    /// A host that cannot take a deletion back needs no causes.
    @usableFromInline package mutating func cascade(to members: [ObjectID], from deleted: ObjectID) {}
}

/// The walk of a deletion through the model's delete rules.
///
/// Cascades follow a list, not the stack: a chain may be a million objects long. The host deletes the object that is
/// next, unless it is deleted already, and has the rules applied to it:
///
///     while let id = walk.takeNext() {
///         guard let row = try host.delete(id) else { continue }
///         try walk.applyRules(of: id, row, to: &host)
///     }
@usableFromInline package struct DeletionWalk {
    @usableFromInline var waiting: [ObjectID]

    /// - Parameter roots: the objects to delete, the first one first.
    package init(_ roots: [ObjectID]) { waiting = roots.reversed() }

    /// The object to delete next.
    package var next: ObjectID? { waiting.last }

    package mutating func takeNext() -> ObjectID? { waiting.popLast() }

    /// Applies the delete rules of an object that the host has deleted.
    ///
    /// The members and targets of a cascade are deleted next. A nullified to-one is cut. The pairs of the object go
    /// with it, and other owners lose it as a member, whatever the rule says. A denied deletion changes nothing at the
    /// other end: `deniedDeletions(of:_:)` returns the errors that forbid to save it.
    @inlinable package mutating func applyRules<Host: DeletionHost>(
        of id: ObjectID, _ object: Host.Deleted, to host: inout Host
    ) throws {
        let links = host.schema.links
        // An object that the store does not know can neither be denied to go nor be pointed at afterwards.
        let isUnsaved = host.isUnsaved(object)
        func rule(_ rule: DeleteRule) -> DeleteRule { isUnsaved && rule != .cascade ? .nullify : rule }
        for toOne in links.slotLinks(of: id.entityID) {
            guard let target = try host.target(of: toOne, in: object, id) else { continue }
            let rule = rule(toOne.deleteRule)
            switch toOne.inverse {
            case .toMany(let link, _):
                if target != id { host.lose(id, from: target, link, isGoing: false) }
            case .toOne(let inverse): if rule == .nullify { try host.cut(inverse, of: target, from: id) }
            case .none: break
            }
            if rule == .cascade {
                waiting.append(target)
                host.cascade(to: [target], from: id)
            }
        }
        for link in links.links(ofOwners: id.entityID) {
            switch (link.source, rule(link.deleteRule)) {
            case (_, .deny), (.rows, .noAction): continue
            case (.rows(let toOne), let rule):
                let members = try members(of: link, host.members(of: link, owner: id))
                if rule == .cascade {
                    waiting.append(contentsOf: members)
                    host.cascade(to: members, from: id)
                } else {
                    for member in members { try host.cut(toOne, of: member, from: id) }
                }
            case (.pairs(_, _, _, let inverse), let rule):
                let members = try members(of: link, host.members(of: link, owner: id))
                if rule == .cascade {
                    waiting.append(contentsOf: members)
                    host.cascade(to: members, from: id)
                }
                for member in members {
                    if member != id { host.lose(id, from: member, inverse, isGoing: rule == .cascade) }
                }
            }
        }
    }

    /// The members that a relationship can have. A damaged file may list objects of other entities, which no rule may
    /// reach.
    @usableFromInline func members(of link: Link, _ listed: [ObjectID]) -> [ObjectID] {
        var known: EntityID?
        for member in listed where member.entityID != known {
            guard link.memberEntityIDs.contains(member.entityID) else {
                return listed.filter { link.memberEntityIDs.contains($0.entityID) }
            }
            known = member.entityID
        }
        return listed
    }
}

extension DeletionHost {
    /// Returns the errors for a deleted object that may not be deleted: one for relationships with the rule `deny` that
    /// still lead to other objects.
    package func deniedDeletions(of id: ObjectID, _ object: Deleted) throws -> [StrataError] {
        guard schema.links.deniesDeletion(of: id.entityID), let entity = schema.entity(id.entityID) else { return [] }
        var denying: [PropertyID] = []
        for toOne in schema.links.slotLinks(of: entity.id) where toOne.deleteRule == .deny {
            if let target = try target(of: toOne, in: object, id), !isDeleted(target) { denying.append(toOne.property) }
        }
        for link in schema.links.links(ofOwners: entity.id) where link.deleteRule == .deny {
            if try members(of: link, owner: id).contains(where: { !isDeleted($0) }) { denying.append(link.id) }
        }
        return denying.compactMap(entity.property).sorted { $0.slot < $1.slot }.map { property in
            StrataError(
                .validationRelationshipDeniedDelete,
                "\(entity.name) cannot be deleted while \(property.name) is not empty.",
                context: .init(entityName: entity.name, objectID: id, key: property.name))
        }
    }
}
