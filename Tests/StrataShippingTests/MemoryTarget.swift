import Foundation
import Locking
import StrataModel
import StrataTestSupport

@testable import StrataShipping

/// A target in memory that fails on purpose.
final class MemoryTarget: ShippingTarget {
    struct State {
        var files: [String: Data] = [:]
        /// Bytes that fit; nil for any number.
        var capacity: Int?
        /// Of a hundred calls, how many fail; some of those that write do so after they have written.
        var failuresInHundred = 0
        /// Of a hundred files, how many a listing leaves out, as one that lags behind does.
        var hiddenInHundred = 0
        var generator = SeededGenerator(seed: 1)
        var writeCount = 0
    }

    let state = Locked(State())
    let label = "a target in memory"

    var files: [String: Data] {
        get { state.withLock { $0.files } }
        set { state.withLock { $0.files = newValue } }
    }

    func names(_ prefix: String) -> [String] { files.keys.filter { $0.hasPrefix(prefix) }.sorted() }

    private static let failure = StrataError(.targetUnavailable, "The target is away.")

    private func failSometimes() throws {
        try state.withLock { state in
            if Int.random(in: 0..<100, using: &state.generator) < state.failuresInHundred { throw Self.failure }
        }
    }

    func entries(under prefix: String, after start: String?) throws -> [TargetEntry] {
        try failSometimes()
        let found = files.filter { $0.key.hasPrefix(prefix) && $0.key > start ?? "" }.sorted { $0.key < $1.key }
        let listed = state.withLock { state in
            let seen = found.filter { _ in Int.random(in: 0..<100, using: &state.generator) >= state.hiddenInHundred }
            // A target that lags behind may not keep the order either.
            return state.hiddenInHundred > 0 ? seen.shuffled(using: &state.generator) : seen
        }
        return listed.map { TargetEntry(name: $0.key, sizeInBytes: $0.value.count) }
    }

    func read(_ name: String) throws -> Data? {
        try failSometimes()
        return files[name]
    }

    func write(_ data: Data, to name: String) throws -> TargetWrite {
        try failSometimes()
        let outcome: TargetWrite = try state.withLock { state in
            guard state.files[name] == nil else { return .existed }
            let used = state.files.values.reduce(0) { $0 + $1.count }
            if let capacity = state.capacity, used + data.count > capacity {
                throw StrataError(.noSpace, "The target is full.")
            }
            state.files[name] = data
            state.writeCount += 1
            return .written
        }
        // The file is there, but the writer does not hear of it.
        try failSometimes()
        return outcome
    }

    func replace(_ name: String, with data: Data) throws {
        try failSometimes()
        state.withLock { state in
            state.files[name] = data
            state.writeCount += 1
        }
        try failSometimes()
    }

    func remove(_ name: String) throws {
        try failSometimes()
        state.withLock { $0.files[name] = nil }
    }
}
