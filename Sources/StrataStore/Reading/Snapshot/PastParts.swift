import Locking
import StrataModel

/// Layers of the past for a reader that goes from moment to moment: the log in parts whose ends do not depend on the
/// moment, so that neighbours share all but one.
///
/// A part over (A, B] lies above a base at B and holds the state at A of everything touched in between; it stays correct
/// for ever. `state` is guarded by its mutex.
final class PastParts: Sendable {
    private struct Key: Hashable {
        let start: EventNumber
        let end: EventNumber
        let model: ModelVersion?
    }

    private struct State {
        var known: [Key: (layer: Layer, lastUse: UInt64)] = [:]
        var clock: UInt64 = 0
    }

    private let state = Locked(State())
    /// Objects and pairs kept in all parts; the least recently used part is dropped first.
    private static let budget = 3_000_000
    private static let mostKnown = 1000
    /// A read merges the keys of all parts, so there are few, whatever the length of the log.
    private static let mostParts: UInt64 = 8

    /// The parts that lead from a base at `head` back to `eventNumber`, bottom to top.
    ///
    /// - Parameters:
    ///   - size: the least number of events between the ends of parts.
    ///   - make: makes the part over (start, end].
    func layers(
        at eventNumber: EventNumber, head: EventNumber, _ size: UInt64, _ model: ModelVersion?,
        _ make: (_ start: EventNumber, _ end: EventNumber) throws -> Layer
    ) throws -> [Layer] {
        var layers: [Layer] = []
        for (start, end) in Self.bounds(eventNumber.rawValue, head.rawValue, size) {
            let key = Key(start: EventNumber(rawValue: start), end: EventNumber(rawValue: end), model: model)
            let layer = try known(key) ?? make(key.start, key.end)
            keep(layer, key)
            layers.append(layer)
        }
        return layers.reversed()
    }

    /// The parts of (first, last] from the oldest on: up to the next of many ends, up to the next of few, whole parts, and
    /// the rest of the log.
    static func bounds(_ first: UInt64, _ last: UInt64, _ size: UInt64) -> [(start: UInt64, end: UInt64)] {
        // Doubles as the log grows, so that the ends stay where they are meanwhile.
        var length = max(size, 1)
        while length * mostParts < last { length *= 2 }
        var step = max(length / 16, 1)
        var bounds: [(UInt64, UInt64)] = []
        var start = first
        while start < last {
            let end = min((start / step + 1) * step, last)
            bounds.append((start, end))
            start = end
            step = length
        }
        return bounds
    }

    /// How many parts are kept.
    var count: Int { state.withLock { $0.known.count } }

    func removeAll() { state.withLock { $0.known.removeAll() } }

    private func known(_ key: Key) -> Layer? { state.withLock { $0.known[key]?.layer } }

    private func keep(_ layer: Layer, _ key: Key) {
        state.withLock { state in
            state.clock += 1
            state.known[key] = (layer, state.clock)
            var total = state.known.values.reduce(0) { $0 + $1.layer.count }
            while total > Self.budget || state.known.count > Self.mostKnown, state.known.count > 1,
                let oldest = state.known.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                total -= oldest.value.layer.count
                state.known[oldest.key] = nil
            }
        }
    }
}
