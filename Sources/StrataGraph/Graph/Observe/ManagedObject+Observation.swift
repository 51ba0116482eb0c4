public import Observation
import StrataModel
import StrataStore

// Reports reads and changes of an object's properties to the Observation framework. Each read costs a lookup, so a
// bit of the object's state enables it, for contexts with `observesObjects` only.

/// Objects of a context with `observesObjects`, such as a container's `viewContext`, are observable.
extension ManagedObject: Observable {}

extension ManagedObject {
    private final var registrar: ObservationRegistrar {
        let extras = ensureExtras()
        if let registrar = extras.registrar { return registrar }
        let made = ObservationRegistrar()
        extras.registrar = made
        return made
    }

    final func announceAccess(_ index: Int) {
        var visitor = AccessVisitor(registrar: registrar)
        _visitKeyPath(at: index, &visitor)
    }

    final func announceWillSet(_ index: Int) {
        guard let registrar = _extras?.registrar else { return }
        var visitor = WillSetVisitor(registrar: registrar)
        _visitKeyPath(at: index, &visitor)
    }

    final func announceDidSet(_ index: Int) {
        guard let registrar = _extras?.registrar else { return }
        var visitor = DidSetVisitor(registrar: registrar)
        _visitKeyPath(at: index, &visitor)
    }

    /// Reports to observers that every property may have changed.
    final func announceAllChanged() {
        guard _state & ObjectState.observed != 0, _extras?.registrar != nil else { return }
        for index in 0..<_entity.declaredCount {
            announceWillSet(index)
            announceDidSet(index)
        }
    }
}

extension ManagedObjectContext {
    /// Reports changes of to-manys whose members others linked or unlinked, which do not change the owner's row.
    func announceMemberships(of members: [ObjectID], from old: EventNumber, to new: EventNumber) throws {
        let before = try owners(of: members, at: old)
        let after = try owners(of: members, at: new)
        for link in Set(before.keys).union(after.keys) {
            let changed = (before[link] ?? []).symmetricDifference(after[link] ?? [])
            announceMembers(link, of: Set(changed.map(\.owner)))
        }
    }

    /// Reports that a to-many of some objects has other members.
    func announceMembers(_ link: PropertyID, of owners: some Sequence<ObjectID>) {
        for owner in owners where !owner.isNil {
            guard let object = map[owner], let property = object._entity.property(link) else { continue }
            object.announceWillSet(property.index)
            object.announceDidSet(property.index)
        }
    }

    private struct Membership: Hashable {
        let owner: ObjectID
        let member: ObjectID
    }

    private func owners(of members: [ObjectID], at eventNumber: EventNumber) throws -> [PropertyID: Set<Membership>] {
        var found: [PropertyID: Set<Membership>] = [:]
        try binding.read(at: eventNumber) { snapshot in
            for member in members {
                guard let entity = binding.entity(member.entityID) else { continue }
                for index in entity.toOneIndexes {
                    let property = entity.properties[index]
                    guard property.isInRow, case .toMany(let link, _) = property.inverse,
                        let owner = try snapshot.reference(property.id, of: member)
                    else { continue }
                    found[link, default: []].insert(Membership(owner: owner, member: member))
                }
            }
        }
        return found
    }
}

/// Reports that a property is read.
private struct AccessVisitor: _KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.access(owner, keyPath: keyPath)
    }
}

/// Reports that a property will change.
private struct WillSetVisitor: _KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.willSet(owner, keyPath: keyPath)
    }
}

/// Reports that a property has changed.
private struct DidSetVisitor: _KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.didSet(owner, keyPath: keyPath)
    }
}
