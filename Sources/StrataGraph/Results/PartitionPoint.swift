// Binary search in sorted lists.

extension RandomAccessCollection where Index == Int {
    /// The first index whose element is in the second part, or `endIndex`.
    ///
    /// - Parameter isInSecondPart: false for all elements of the first part, true for all after it.
    ///
    /// - Complexity: O(log n)
    func partitionPoint(_ isInSecondPart: (Element) throws -> Bool) rethrows -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if try isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
