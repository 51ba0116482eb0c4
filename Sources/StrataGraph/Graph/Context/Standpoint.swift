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
    /// Whether objects in memory show this state; false where a move has failed halfway.
    private(set) var isShown = true

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

    /// Objects in memory are about to be brought to this state.
    mutating func beginShowing() { isShown = false }

    /// Objects in memory show this state now.
    mutating func noteShown() { isShown = true }

    /// Whether a child that shows this state has nothing new to take from a parent.
    func isAs(_ parent: Standpoint, under layers: [Layer]) -> Bool {
        isShown && eventNumber == parent.eventNumber && inherited.elementsEqual(parent.inherited + layers, by: ===)
    }

    /// The layers that came or went since an earlier state; layers do not change.
    func layers(differingFrom earlier: Standpoint) -> [Layer] {
        let common = zip(earlier.inherited, inherited).prefix { $0 === $1 }.count
        return Array(earlier.inherited.dropFirst(common) + inherited.dropFirst(common))
    }
}

/// A moment of the past that a context shows for ever.
struct PastMoment {
    /// The converted rows of migrations since the moment; nil if they rewrote nothing.
    let converted: ConvertedState?
}
