import Foundation

/// SplitMix64 (Steele, Lea, Flood 2014): a small generator whose whole future is its seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seeds of random tests.
public enum RandomTesting {
    /// The fixed seeds of CI; `STRATA_SEEDS=1000` takes 1 to 1000, `STRATA_SEED=21` (or `8,21`) only those named.
    public static var seeds: [UInt64] { seeds(unlessAsked: [1, 2, 3, 5, 8, 13, 21, 34]) }

    /// The same with other seeds where the environment names none.
    public static func seeds(unlessAsked fixed: [UInt64]) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        let named = (environment["STRATA_SEED"] ?? "").split(separator: ",").compactMap { UInt64($0) }
        if !named.isEmpty { return named }
        guard let text = environment["STRATA_SEEDS"], let count = UInt64(text) else { return fixed }
        return Array(1...max(1, count))
    }
}
