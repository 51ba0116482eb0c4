#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Synchronization

/// Reset read transactions, ready to be renewed by any thread.
///
/// Each slot is one atomic word: taking is an exchange with zero, so a transaction in the pool has exactly one next
/// owner. A thread looks first at the slot its own number picks, which keeps threads off each other's cache lines.
final class ReaderPool: @unchecked Sendable {
    private static let slotCount = 16
    /// Words between two slots: a cache line.
    private static let stride = 8
    private let slots: UnsafeMutablePointer<Atomic<UInt>>

    init() {
        slots = .allocate(capacity: Self.slotCount * Self.stride)
        for index in 0..<Self.slotCount * Self.stride {
            (slots + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        // Drained before by the environment.
        slots.deallocate()
    }

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
    func take() -> ReadTransaction? {
        let home = home
        for offset in 0..<Self.slotCount {
            let slot = slots + ((home &+ offset) & (Self.slotCount - 1)) &* Self.stride
            guard slot.pointee.load(ordering: .relaxed) != 0 else { continue }
            let word = slot.pointee.exchange(0, ordering: .acquiring)
            if let pointer = UnsafeRawPointer(bitPattern: word) {
                return Unmanaged<ReadTransaction>.fromOpaque(pointer).takeRetainedValue()
            }
        }
        return nil
    }

    /// Keeps a reset transaction, or ends it when the pool is full.
    @inline(__always)
    func put(_ transaction: consuming ReadTransaction) {
        let home = home
        let word = UInt(bitPattern: Unmanaged.passRetained(transaction).toOpaque())
        for offset in 0..<Self.slotCount {
            let slot = slots + ((home &+ offset) & (Self.slotCount - 1)) &* Self.stride
            guard slot.pointee.load(ordering: .relaxed) == 0 else { continue }
            if slot.pointee.compareExchange(expected: 0, desired: word, ordering: .releasing).exchanged { return }
        }
        if let pointer = UnsafeRawPointer(bitPattern: word) {
            Unmanaged<ReadTransaction>.fromOpaque(pointer).takeRetainedValue().discard()
        }
    }
}
