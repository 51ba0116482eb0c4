// Keeps the states that readers use from being truncated.

import LMDB
import Locking
package import StrataModel
import Synchronization

/// The state that a reader, such as a context, uses as long as it lives.
package final class StatePin: Sendable {
    private let number: Atomic<UInt64>

    fileprivate init(_ eventNumber: EventNumber) { number = Atomic(eventNumber.rawValue) }

    package var eventNumber: EventNumber { EventNumber(rawValue: number.load(ordering: .relaxed)) }

    package func move(to eventNumber: EventNumber) { number.store(eventNumber.rawValue, ordering: .relaxed) }
}

/// The states that readers of this process use; a truncation does not drop the history that they need.
///
/// Readers are not retained. `entries` is guarded by its mutex.
final class StatePins: Sendable {
    private struct Entry {
        weak var pin: StatePin?
    }

    private struct State {
        var entries: [Entry] = []
        /// The number of entries at which those without a reader are removed.
        var limit = 64
    }

    private let state = Locked(State())

    /// Of each open file, those of all stores that have it open in this process. By the environment, which lives as long
    /// as a store that holds the pins.
    private static let ofFiles = Locked<[ObjectIdentifier: OfFile]>([:])

    /// A class, because Swift 6.3 miscompiles a look-up of a struct with a weak reference.
    private final class OfFile {
        weak var pins: StatePins?
        init(_ pins: StatePins) { self.pins = pins }
    }

    static func of(_ environment: Environment) -> StatePins {
        ofFiles.withLock { files in
            let key = ObjectIdentifier(environment)
            if let known = files[key]?.pins { return known }
            files = files.filter { $0.value.pins != nil }
            let made = StatePins()
            files[key] = OfFile(made)
            return made
        }
    }

    func add(_ eventNumber: EventNumber) -> StatePin {
        let pin = StatePin(eventNumber)
        state.withLock { state in
            if state.entries.count >= state.limit {
                state.entries.removeAll { $0.pin == nil }
                state.limit = max(64, state.entries.count * 2)
            }
            state.entries.append(Entry(pin: pin))
        }
        return pin
    }

    /// In no particular order.
    var all: [EventNumber] { state.withLock { $0.entries.compactMap { $0.pin?.eventNumber } } }
}
