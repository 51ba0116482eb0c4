package import StrataStore

extension BufferLimits {
    /// Entries of the smallest store gather, and go on a few at a time.
    package static let eager = BufferLimits(
        fewestPages: 0, mostEntriesForEachPage: 1_000_000, fewestLeaving: 3, sizeInRoots: 1)

    /// Those of a large table, for one of a few hundred pages.
    package static let filling = BufferLimits(
        fewestPages: 16, mostEntriesForEachPage: 100, fewestLeaving: 2000, sizeInRoots: 30)
}

extension StoreOptions {
    /// Options under which entries gather in every second test, and events go into blocks in every third, by its seed.
    package static func gathering(_ seed: UInt64) -> StoreOptions {
        var options = StoreOptions()
        if seed % 2 == 1 { options.bufferLimits = .eager }
        if seed % 3 == 1 { options.packing = .eager }
        return options
    }
}
