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

/// How much random testing to do: the fixed seeds of CI, or as many as `STRATA_SEEDS` says.
public enum RandomTesting {
    public static var seeds: [UInt64] {
        if let text = ProcessInfo.processInfo.environment["STRATA_SEEDS"], let count = UInt64(text) {
            return Array(1...max(1, count))
        }
        return [1, 2, 3, 5, 8, 13, 21, 34]
    }
}
