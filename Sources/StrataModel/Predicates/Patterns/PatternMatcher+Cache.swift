import Locking

// The cache of compiled patterns.

extension PatternMatcher {
    private struct Key: Hashable {
        let pattern: String
        let caseInsensitive: Bool
    }

    /// Compiled patterns; a mutex guards it. It is emptied when full, which never happens with a fixed set of patterns.
    private static let cache = Locked<[Key: PatternMatcher]>([:])
    private static let cacheCapacity = 256

    /// The compiled pattern, from a small cache if it is there. Invalid patterns are not cached.
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
