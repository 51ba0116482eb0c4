package import StrataStore

extension BufferLimits {
    /// Entries of the smallest store gather, and go on a few at a time.
    package static var eager: BufferLimits {
        var limits = BufferLimits()
        limits.fewestPages = 0
        limits.mostEntriesForEachPage = 1_000_000
        limits.fewestLeaving = 3
        limits.sizeInRoots = 1
        return limits
    }
}

extension StoreOptions {
    /// Options under which entries gather in every second test, by its seed.
    package static func gathering(_ seed: UInt64) -> StoreOptions {
        var options = StoreOptions()
        if seed % 2 == 1 { options.bufferLimits = .eager }
        return options
    }
}

extension BufferLimits {
    /// Those of a large table, for one of a few hundred pages.
    package static var filling: BufferLimits {
        var limits = BufferLimits()
        limits.fewestPages = 16
        limits.mostEntriesForEachPage = 100
        limits.fewestLeaving = 2000
        limits.sizeInRoots = 30
        return limits
    }
}
