// Binary search in a sorted collection.

extension RandomAccessCollection {
    /// The first index whose element is not `before`. All elements that are come first.
    @inlinable package func partitionPoint(_ before: (Element) throws -> Bool) rethrows -> Index {
        var low = startIndex
        var length = count
        while length > 0 {
            let half = length / 2
            let middle = index(low, offsetBy: half)
            if try before(self[middle]) {
                low = index(after: middle)
                length -= half + 1
            } else {
                length = half
            }
        }
        return low
    }
}
