import Locking
import Synchronization

/// Counts the pages that commits have freed since the last checkpoint, and asks for the next one when they are many.
///
/// Until then none of them is used again, so that a busy writer makes the file longer by all that it writes: half a
/// gigabyte a second.
///
/// Measured by `strata-bench run --journaled --filter durable --rounds 120`: with a quarter of this number eight writers
/// wait for checkpoints, and with twice as many nothing is gained.
package final class HeldPages: Sendable {
    let count = Atomic<Int>(0)
    /// A checkpoint is asked for when more pages are held, and more than an eighth of the file's.
    let most = Atomic<Int>(32_768)
    private let isAsked = Atomic<Bool>(false)
    private let ask = Locked<(@Sendable () -> Void)?>(nil)

    /// - Parameter ask: is called by writers, and returns at once.
    package func onMany(_ ask: @escaping @Sendable () -> Void) { self.ask.withLock { $0 = ask } }

    /// Comes after each commit.
    func hold(_ freed: Int, ofPages pageCount: UInt64) {
        let held = count.add(freed, ordering: .relaxed).newValue
        guard held > max(most.load(ordering: .relaxed), Int(clamping: pageCount / 8)),
            !isAsked.exchange(true, ordering: .relaxed)
        else { return }
        ask.withLock { $0 }?()
    }

    /// Comes after a checkpoint of a commit at which so many were held.
    func release(_ held: Int) {
        count.subtract(held, ordering: .relaxed)
        isAsked.store(false, ordering: .relaxed)
    }
}
