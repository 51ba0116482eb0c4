import Foundation
import Locking

extension BackgroundThread {
    /// Runs two bodies at once, the first on a thread of its own, and returns when both have ended. If the system has no
    /// thread they run one after the other, the first one first.
    ///
    /// The caller ensures that neither writes values that the other uses.
    /// - Throws: the error of the first body, otherwise that of the second.
    static func run<R>(_ name: String, _ first: () throws -> Void, beside second: () throws -> R) throws -> R {
        try withoutActuallyEscaping(first) { first in
            let task = Task(first)
            do {
                try start(name) { task.run() }
            } catch {
                task.run()
            }
            // Even if this throws, everything that the first body uses must live until it ends.
            let result = Result { try second() }
            try task.wait()
            return try result.get()
        }
    }

    /// `result` is guarded by `condition`. Only `run` uses `body`, and releases it before `wait` returns.
    private final class Task: @unchecked Sendable {
        private var body: (() throws -> Void)?
        private let condition = NSCondition()
        private var result: Result<Void, any Error>?

        init(_ body: @escaping () throws -> Void) { self.body = body }

        func run() {
            let result = Result { try body?() ?? () }
            body = nil
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }

        func wait() throws {
            try condition.withLock {
                while true {
                    if let result { return try result.get() }
                    condition.wait()
                }
            }
        }
    }
}
