// The pool of read transactions that are kept for reuse, each with its reader slot.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

/// The part of a read transaction that is kept between two uses: LMDB's transaction, reset, with its reader slot.
package class PooledReader {
    /// LMDB's transaction while it waits to be renewed.
    @exclusivity(unchecked) final var idleHandle: OpaquePointer?

    init(idleHandle: OpaquePointer? = nil) { self.idleHandle = idleHandle }

    /// Ends an idle transaction for good. Inside the gate, or with the environment otherwise kept from closing.
    func discard() {
        guard let idleHandle else { return }
        mdb_txn_abort(idleHandle)
        self.idleHandle = nil
    }
}

/// Reset read transactions, ready to be renewed by any thread.
///
/// Each slot is one atomic word: taking is an exchange with zero, so a transaction in the pool has exactly one next
/// owner. A thread looks first at the slot its own number picks, which keeps threads off each other's cache lines.
final class ReaderPool: @unchecked Sendable {
    private static let slotCount = 16
    /// Words from one slot to the next: a cache line.
    private static let stride = 8
    private let slots: UnsafeMutablePointer<Atomic<UInt>>

    init() {
        slots = .allocate(capacity: Self.slotCount * Self.stride)
        for index in 0..<Self.slotCount * Self.stride {
            (slots + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        // The environment has emptied it.
        slots.deallocate()
    }

    /// The slot that this thread looks at first.
    @inline(__always)
    private var home: Int {
        #if canImport(Glibc)
            let thread = UInt(pthread_self())
        #else
            let thread = UInt(bitPattern: pthread_self())
        #endif
        return Int(truncatingIfNeeded: (thread >> 12) &* 0x9E37_79B9_7F4A_7C15 >> 60)
    }

    /// A reset transaction, or nil when the pool has none.
    @inline(__always)
    func take() -> PooledReader? {
        let home = home
        for offset in 0..<Self.slotCount {
            let slot = slots + ((home &+ offset) & (Self.slotCount - 1)) &* Self.stride
            guard slot.pointee.load(ordering: .relaxed) != 0 else { continue }
            let word = slot.pointee.exchange(0, ordering: .acquiring)
            if let pointer = UnsafeRawPointer(bitPattern: word) {
                return Unmanaged<PooledReader>.fromOpaque(pointer).takeRetainedValue()
            }
        }
        return nil
    }

    /// Keeps a reset transaction, or ends it when the pool is full.
    @inline(__always)
    func put(_ transaction: consuming PooledReader) {
        let home = home
        let word = UInt(bitPattern: Unmanaged.passRetained(transaction).toOpaque())
        for offset in 0..<Self.slotCount {
            let slot = slots + ((home &+ offset) & (Self.slotCount - 1)) &* Self.stride
            guard slot.pointee.load(ordering: .relaxed) == 0 else { continue }
            if slot.pointee.compareExchange(expected: 0, desired: word, ordering: .releasing).exchanged { return }
        }
        if let pointer = UnsafeRawPointer(bitPattern: word) {
            Unmanaged<PooledReader>.fromOpaque(pointer).takeRetainedValue().discard()
        }
    }
}
