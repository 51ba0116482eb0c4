/// The progress of a long operation.
package struct StoreProgress: Sendable, Hashable {
    /// The unit of `done` and `total`.
    package enum Unit: Sendable {
        case things
        case bytes
    }

    /// The current phase, such as "reading the log".
    package let phase: String
    package let done: Int
    /// 0 if unknown.
    package let total: Int
    package let unit: Unit

    package init(phase: String, done: Int, total: Int, unit: Unit = .things) {
        self.phase = phase
        self.done = done
        self.total = total
        self.unit = unit
    }
}

/// Called from time to time by long operations, on whichever thread they run.
package typealias ProgressHandler = @Sendable (StoreProgress) -> Void

/// Counts steps and reports every 8,192nd.
struct ProgressCounter {
    private let phase: String
    private let total: Int
    private let handler: ProgressHandler?
    private var done: Int
    private static let stride = 8192

    /// - Parameter done: steps that were done before.
    init(_ phase: String, from done: Int = 0, total: Int, _ handler: ProgressHandler?) {
        self.phase = phase
        self.done = done
        self.total = total
        self.handler = handler
        handler?(StoreProgress(phase: phase, done: done, total: total))
    }

    mutating func step() {
        done += 1
        guard let handler, done % Self.stride == 0 else { return }
        handler(StoreProgress(phase: phase, done: done, total: total))
    }

    mutating func step(_ count: Int) {
        done += count
        handler?(StoreProgress(phase: phase, done: done, total: total))
    }
}
