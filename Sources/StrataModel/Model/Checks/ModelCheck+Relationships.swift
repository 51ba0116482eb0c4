// Checks relationships and their inverses.

extension ModelCheck {
    mutating func check(_ relationship: RelationshipDescription, of entity: EntityDescription) {
        let subject = Subject(entity.name, relationship.name)
        checkCounts(of: relationship, at: subject)
        if relationship.isOrdered && !relationship.isToMany {
            report(subject, "is ordered; only a to-many can be.")
        }
        if relationship.hasNoInverse, let inverse = relationship.inverseName {
            report(subject, "names the inverse \(inverse) and says that it has none.")
        }
        guard let destination = hierarchy.entity(named: relationship.destinationEntityName) else {
            let name = relationship.destinationEntityName
            report(subject, "leads to an unknown entity, \(name)\(hierarchy.ending(forEntity: name))")
            return
        }
        let candidates = [destination] + hierarchy.subentities(of: destination.name)
        if !relationship.isOptional, !relationship.isToMany, candidates.allSatisfy(\.isAbstract) {
            report(subject, "is required, but \(destination.name) is abstract and has no concrete subentity.")
        }
    }

    private mutating func checkCounts(of relationship: RelationshipDescription, at subject: Subject) {
        let (least, most) = (relationship.minCount, relationship.maxCount)
        if least < 0 || most < 0 {
            report(subject, "has a negative count.")
        } else if relationship.isToMany {
            if most > 0 && least > most { report(subject, "must have at least \(least) members and at most \(most).") }
        } else if least > 1 || most > 1 {
            report(subject, "is a to-one relationship with a count above one.")
        }
    }

    /// Checks that every relationship is the inverse of its inverse, whichever side names it, also if one is inherited.
    mutating func checkInverses() {
        var claims: [EntityHierarchy.PropertyKey: [EntityHierarchy.PropertyKey]] = [:]
        var open: [EntityHierarchy.PropertyKey] = []
        for entity in entities {
            for case .relationship(let relationship) in entity.properties where !relationship.hasNoInverse {
                let key = EntityHierarchy.PropertyKey(entityName: entity.name, name: relationship.name)
                if relationship.inverseName == nil {
                    open.append(key)
                } else if let claimed = claimedInverse(of: relationship, key: key) {
                    claims[claimed, default: []].append(key)
                }
            }
        }
        for key in open where claims[key] == nil {
            let relationship = hierarchy.declaration(of: key.name, in: key.entityName)?.property.relationship
            guard let destination = relationship?.destinationEntityName,
                hierarchy.entity(named: destination) != nil
            else { continue }
            report(Subject(key.entityName, key.name), "has no inverse; name one, or say that there is none.")
        }
        for (key, claimants) in claims {
            if claimants.count == 1 {
                filledInverses[key] = claimants[0].name
            } else {
                let names = claimants.map { "\($0.entityName).\($0.name)" }.sorted().joined(separator: " and ")
                report(Subject(key.entityName, key.name), "is named as inverse by \(names).")
            }
        }
    }

    /// Checks the inverse that a relationship names; returns it if it does not name an inverse itself.
    private mutating func claimedInverse(
        of relationship: RelationshipDescription, key: EntityHierarchy.PropertyKey
    ) -> EntityHierarchy.PropertyKey? {
        let subject = Subject(key.entityName, key.name)
        let destination = relationship.destinationEntityName
        guard let inverseName = relationship.inverseName, hierarchy.entity(named: destination) != nil else {
            return nil
        }
        guard let declaration = hierarchy.declaration(of: inverseName, in: destination) else {
            let ending = NearestName.ending(for: inverseName, among: hierarchy.names(in: destination))
            report(subject, "names an unknown inverse, \(destination).\(inverseName)\(ending)")
            return nil
        }
        let inverseText = "\(declaration.entityName).\(inverseName)"
        guard case .relationship(let inverse) = declaration.property else {
            report(subject, "names an inverse that is not a relationship, \(inverseText).")
            return nil
        }
        guard hierarchy.declaration(of: key.name, in: inverse.destinationEntityName)?.key == key else {
            report(subject, "cannot be the inverse of \(inverseText), which leads to \(inverse.destinationEntityName).")
            return nil
        }
        if relationship.isTransient != inverse.isTransient {
            report(subject, "and its inverse \(inverseText) must both be transient or both be stored.")
        }
        if inverse.hasNoInverse {
            report(subject, "names the inverse \(inverseText), which says that it has none.")
            return nil
        }
        guard let back = inverse.inverseName else { return declaration.key }
        if hierarchy.declaration(of: back, in: inverse.destinationEntityName)?.key != key {
            report(
                subject, "names the inverse \(inverseText), whose inverse is \(inverse.destinationEntityName).\(back).")
        }
        return nil
    }
}
