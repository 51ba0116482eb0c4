/// A set of page numbers of one file: a bit for each page.
struct PageSet {
    let lastPage: UInt64
    private var words: [UInt64]

    /// An empty set of pages through `lastPage`.
    init(through lastPage: UInt64) {
        self.lastPage = lastPage
        words = Array(repeating: 0, count: Int(lastPage / 64) + 1)
    }

    func contains(_ number: UInt64) -> Bool {
        number <= lastPage && words[Int(number / 64)] & (1 << (number % 64)) != 0
    }

    /// Adds a page, which must not be behind the last.
    ///
    /// - Returns: false if the set has it already.
    mutating func insert(_ number: UInt64) -> Bool {
        let (word, bit) = (Int(number / 64), UInt64(1) << (number % 64))
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        return true
    }

    /// The number of pages.
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }
}
