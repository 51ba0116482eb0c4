import StrataModel

// In this folder: the memory of a context. `IdentityMap` finds objects by id, `FaultRuns` reads neighbouring
// faults together, `LongText` keeps the text that was read last.

/// The memory of a context beside its objects: short-lived caches, and the thresholds at which unused objects are
/// swept.
struct ContextMemory {
    /// The least number of objects that are made before some of them are swept.
    static var leastSweepThreshold: Int { 2048 }
    /// Steps of sweeping for each object that is made: as many blocks of one size the C library keeps at hand.
    static var sweptAtOnce: Int { 4 }

    private(set) var sweepThreshold = ContextMemory.leastSweepThreshold
    var faultRuns = FaultRuns()
    var longText = LongText()
    /// The class whose entity was asked for last.
    var lastClass: (ObjectIdentifier, EntityRuntime)?
    var retainsObjects = false {
        didSet { sweepThreshold = retainsObjects ? .max : Self.leastSweepThreshold }
    }

    /// The next sweep comes when the map has twice the objects that were found held.
    mutating func noteSwept(heldCount: Int) { sweepThreshold = max(Self.leastSweepThreshold, heldCount * 2) }

    /// The objects that lists and texts belong to are forgotten.
    mutating func forget() {
        faultRuns.removeAll()
        longText = LongText()
    }
}
