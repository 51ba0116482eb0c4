extension RandomAccessCollection where Index == Int {
    /// The first place where `isBehind` holds; it is false up to there and true from there on.
    ///
    /// - Complexity: O(log n)
    func partitionPoint(_ isBehind: (Element) throws -> Bool) rethrows -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if try isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
