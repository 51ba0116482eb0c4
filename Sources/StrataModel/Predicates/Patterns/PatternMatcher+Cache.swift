import Locking

extension PatternMatcher {
    private struct Key: Hashable {
        let pattern: String
        let caseInsensitive: Bool
    }

    /// Guarded by its mutex; emptied when it is full, which a program with a fixed set of patterns never sees.
    private static let cache = Locked<[Key: PatternMatcher]>([:])
    private static let cacheCapacity = 256

    /// The compiled pattern, compiled once while it stays in a small cache. Faulty patterns are not kept.
    package static func cached(
        _ pattern: String, caseInsensitive: Bool = false
    ) throws(StrataError) -> PatternMatcher {
        let key = Key(pattern: pattern, caseInsensitive: caseInsensitive)
        if let matcher = cache.withLock({ $0[key] }) { return matcher }
        let matcher = try PatternMatcher(pattern, caseInsensitive: caseInsensitive)
        cache.withLock {
            if $0.count >= cacheCapacity { $0.removeAll() }
            $0[key] = matcher
        }
        return matcher
    }
}
