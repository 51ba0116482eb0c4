import StrataModel

/// Errors of a context that a property could not throw; the next save throws them.
///
/// Damage of the store stays: what was read in its place, as a list without its members, must not be saved.
struct UnreportedErrors {
    private(set) var unreported: [StrataError] = []
    /// Whether there is damage that neither a fetch nor a save has thrown yet.
    private(set) var hasNewDamage = false
    /// Whether a fault whose object is gone is no error.
    var toleratesGoneObjects = true

    /// More errors than these are not kept.
    private static let mostErrors = 1000

    mutating func keep(_ error: StrataError) {
        if error.code == .corrupt { hasNewDamage = true }
        if unreported.count < Self.mostErrors { unreported.append(error) }
    }

    /// The newest error, for a caller that can throw it.
    mutating func takeLast() -> StrataError? {
        defer { hasNewDamage = hasNewDamage && !damages.isEmpty }
        return unreported.popLast()
    }

    /// All errors, of which only damage is kept.
    mutating func takeAll() -> [StrataError] {
        defer { forgetAllButDamage() }
        hasNewDamage = false
        return unreported
    }

    /// The newest damage, if nothing has thrown it yet.
    mutating func takeNewDamage() -> StrataError? {
        defer { hasNewDamage = false }
        return hasNewDamage ? damages.last : nil
    }

    /// Takes the errors of reads whose state was dropped, and returns one of them.
    mutating func takeDroppedReads() -> StrataError? {
        let dropped = unreported.last { $0.code == .historyDropped }
        if dropped != nil { unreported.removeAll { $0.code == .historyDropped } }
        return dropped
    }

    mutating func forgetAllButDamage() { unreported = damages }

    mutating func forget() { (unreported, hasNewDamage) = ([], false) }

    private var damages: [StrataError] { unreported.filter { $0.code == .corrupt } }
}
