import StrataModel
import StrataStore

/// The state that a context reads: the store at one event number, and above it what the context's parents have not
/// saved.
struct Standpoint {
    private(set) var eventNumber: EventNumber { didSet { pin.move(to: eventNumber) } }
    /// Keeps the history that the context needs.
    private let pin: StatePin
    /// The layers of a child context's parents, bottom to top.
    private(set) var inherited: [Layer] = []

    init(at eventNumber: EventNumber, in store: Store) {
        self.eventNumber = eventNumber
        pin = store.pin(at: eventNumber)
    }

    mutating func move(to eventNumber: EventNumber) { self.eventNumber = eventNumber }

    /// Takes the present state of a parent, whose own changes are `layers`.
    mutating func stand(on parent: Standpoint, under layers: [Layer]) {
        eventNumber = parent.eventNumber
        inherited = parent.inherited + layers
    }
}

/// A moment of the past that a context shows for ever.
struct PastMoment {
    /// What migrations since have made of its values; nil if they rewrote nothing.
    let converted: ConvertedState?
}
