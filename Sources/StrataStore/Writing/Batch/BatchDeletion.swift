package import StrataModel

/// What goes with a number of objects by the delete rules of the model, worked out over rows; no object is made.
///
/// It follows a list, not the stack: a chain of cascades may be a million objects long.
package struct DeletionPlan {
    /// A to-one that points at an object that goes.
    private struct Reference: Hashable {
        let member: ObjectID
        let toOne: PropertyID
    }

    private let snapshot: Snapshot
    private let schema: Schema
    private var revisions: [ObjectID: EventNumber] = [:]
    private var references: Set<Reference> = []
    private var denials: [(object: ObjectID, property: PropertyID, others: [ObjectID])] = []
    /// Members that owners lose which have a least number of them.
    private var losses: [Loss: Int] = [:]

    private struct Loss: Hashable {
        let owner: ObjectID
        let link: PropertyID
    }

    /// Objects that are gone already are passed over.
    package init(_ roots: [ObjectID], snapshot: Snapshot) throws {
        self.snapshot = snapshot
        schema = snapshot.schema
        var waiting = Array(roots.reversed())
        while let id = waiting.popLast() {
            guard revisions[id] == nil, let row = try snapshot.row(id), let entity = schema.entity(id.entityID) else {
                continue
            }
            revisions[id] = row.revision
            for link in schema.links.links(ofOwners: entity.id) { try follow(link, of: id, &waiting) }
            for property in entity.properties {
                guard let relationship = property.relationship, relationship.truth == .slot else { continue }
                try follow(property, relationship, of: id, row, &waiting)
            }
        }
    }

    /// The objects that go, in the order of their keys.
    package var objectIDs: [ObjectID] { revisions.keys.sorted() }

    private mutating func follow(_ owned: Link, of id: ObjectID, _ waiting: inout [ObjectID]) throws {
        if case .pairs = owned.source, let inverse = schema.property(owned.id)?.relationship?.inverse,
            schema.property(inverse)?.relationship.map({ $0.description.minCount > 0 }) ?? false
        {
            for member in try snapshot.members(of: owned.id, owner: id) {
                losses[Loss(owner: member, link: inverse), default: 0] += 1
            }
        }
        switch (owned.deleteRule, owned.source) {
        case (.noAction, _), (.nullify, .pairs): return
        case (.cascade, _): waiting += try snapshot.members(of: owned.id, owner: id)
        case (.deny, _): denials.append((id, owned.id, try snapshot.members(of: owned.id, owner: id)))
        case (.nullify, .rows(let toOne)):
            for member in try snapshot.members(of: owned.id, owner: id) {
                references.insert(Reference(member: member, toOne: toOne))
            }
        }
    }

    private mutating func follow(
        _ property: PropertySchema, _ relationship: RelationshipSchema, of id: ObjectID, _ row: SnapshotRow,
        _ waiting: inout [ObjectID]
    ) throws {
        guard let target = try row.reference(property.id, of: schema, id) else { return }
        if let inverse = relationship.inverse, relationship.isInverseToMany,
            schema.property(inverse)?.relationship.map({ $0.description.minCount > 0 }) ?? false
        {
            losses[Loss(owner: target, link: inverse), default: 0] += 1
        }
        switch relationship.description.deleteRule {
        case .noAction: return
        case .cascade: waiting.append(target)
        case .deny: denials.append((id, property.id, [target]))
        case .nullify:
            guard let inverse = relationship.inverse, !relationship.isInverseToMany,
                try snapshot.row(target)?.reference(inverse, of: schema, target) == id
            else { return }
            references.insert(Reference(member: target, toOne: inverse))
        }
    }

    /// Adds the deletions, and the updates of what pointed at them.
    ///
    /// - Throws: `validationRelationshipDeniedDelete`, or another validation error of what is left, several as the
    ///   details of one.
    package func add(to changes: inout ChangeSet) throws {
        for id in objectIDs { changes.deletions.append(.init(id: id, baseRevision: revisions[id] ?? .zero)) }
        var failures = try deniedDeletions() + missingMembers()
        var members: [ObjectID: [PropertyID]] = [:]
        for reference in references where revisions[reference.member] == nil {
            members[reference.member, default: []].append(reference.toOne)
        }
        for (member, toOnes) in members.sorted(by: { $0.key < $1.key }) {
            guard let update = try update(of: member, without: toOnes, &failures) else { continue }
            changes.updates.append(update)
        }
        guard let first = failures.first else { return }
        if failures.count == 1 { throw first }
        throw StrataError(.validationMultipleErrors, "\(failures.count) validation errors.", details: failures)
    }

    private func update(
        of member: ObjectID, without toOnes: [PropertyID], _ failures: inout [StrataError]
    ) throws -> ChangeSet.Update? {
        guard let row = try snapshot.row(member), let entity = schema.entity(member.entityID) else { return nil }
        var builder = try RowBuilder(try row.converted(to: entity), layout: entity.layout)
        var slots: [Int] = []
        for toOne in toOnes {
            guard let property = entity.property(toOne) else { continue }
            if property.relationship?.description.isOptional == false {
                failures.append(
                    StrataError(
                        .validationMissingMandatoryProperty, "\(property.name) is required.",
                        context: .init(
                            entityName: entity.name, objectID: member, key: property.name, value: .null)))
            }
            builder.setNull(property.slot)
            slots.append(property.slot)
        }
        let image = try builder.finish()
        failures += try RowRules(entity, schema).failures(of: image, member, snapshot)
        return ChangeSet.Update(id: member, baseRevision: row.revision, image: image, changedSlots: slots)
    }

    private func deniedDeletions() -> [StrataError] {
        denials.compactMap { denial in
            guard denial.others.contains(where: { revisions[$0] == nil }) else { return nil }
            let entity = schema.entity(denial.object.entityID)
            let name = schema.property(denial.property)?.name ?? ""
            return StrataError(
                .validationRelationshipDeniedDelete,
                "\(entity?.name ?? "") cannot be deleted while \(name) is not empty.",
                context: .init(entityName: entity?.name, objectID: denial.object, key: name))
        }
    }

    private func missingMembers() throws -> [StrataError] {
        var failures: [StrataError] = []
        for (loss, count) in losses where revisions[loss.owner] == nil {
            guard let relationship = schema.property(loss.link)?.relationship?.description else { continue }
            let left = try snapshot.memberCount(of: loss.link, owner: loss.owner) - count
            failures += relationship.validate(count: left, entityName: schema.entity(loss.owner.entityID)?.name)
                .map { failure in
                    var failure = failure
                    failure.context.objectID = loss.owner
                    return failure
                }
        }
        return failures
    }
}
