public import Observation

// An object tells observers of its properties through the Observation framework. It costs a table lookup a read, so
// it is behind a state bit that only contexts that ask for it set.

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

    /// Tells observers that every property may have changed.
    final func announceAllChanged() {
        guard _state & ObjectState.observed != 0, _extras?.registrar != nil else { return }
        for index in 0..<_entity.declaredCount {
            announceWillSet(index)
            announceDidSet(index)
        }
    }
}

private struct AccessVisitor: KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.access(owner, keyPath: keyPath)
    }
}

private struct WillSetVisitor: KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.willSet(owner, keyPath: keyPath)
    }
}

private struct DidSetVisitor: KeyPathVisitor {
    let registrar: ObservationRegistrar

    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>) {
        registrar.didSet(owner, keyPath: keyPath)
    }
}
