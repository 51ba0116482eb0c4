/// The commit for which all sums of `pages.sums` are true.
///
/// The file has two, of the newest commit and the one before. `PageSums` has the layout.
struct Seal: Equatable {
    var commit: UInt64
    var head: HeadDigest
    var total: UInt64
    var lastPage: UInt64
    var usedCount: UInt64
    var session: UInt64
    var file: UInt64
    var isRelaxed: Bool

    static let wordCount = 10

    /// Returns the offset of a commit's seal in the file.
    static func offset(of commit: UInt64) -> Int { 128 * (1 + Int(commit & 1)) }

    var content: EntrySum {
        var content = EntrySum(lastPage: lastPage)
        (content.total, content.usedCount) = (total, usedCount)
        return content
    }

    var words: [UInt64] {
        let content = [
            commit &+ 1, head.whole, head.content, total, lastPage, usedCount, session, file, isRelaxed ? 1 : 0,
        ]
        return content + [Self.check(content)]
    }

    /// - Returns: nil for no seal, a damaged one, or one that is half written.
    init?(words: [UInt64]) {
        guard words.count == Self.wordCount, words[0] != 0, words[9] == Self.check(words.dropLast()) else { return nil }
        commit = words[0] - 1
        head = HeadDigest(whole: words[1], content: words[2])
        (total, lastPage, usedCount) = (words[3], words[4], words[5])
        (session, file) = (words[6], words[7])
        isRelaxed = words[8] & 1 != 0
    }

    /// - Parameter content: the pages of the commit, as their entries say.
    init(commit: UInt64, head: HeadDigest, _ content: EntrySum, session: UInt64, file: UInt64, isRelaxed: Bool) {
        self.commit = commit
        self.head = head
        total = content.total
        lastPage = content.lastPage
        usedCount = content.usedCount
        self.session = session
        self.file = file
        self.isRelaxed = isRelaxed
    }

    private static func check(_ words: some Sequence<UInt64>) -> UInt64 {
        words.reduce(0x7365_616C) { $0.mixed(with: $1) }
    }
}

/// A digest of a meta page.
struct HeadDigest: Equatable {
    /// The sum of the whole page.
    let whole: UInt64
    /// The sum of all but the number of the commit.
    let content: UInt64

    init(whole: UInt64, content: UInt64) {
        self.whole = whole
        self.content = content
    }

    /// - Parameter bytes: a meta page, at least `MetaPage.size` of it.
    init(_ bytes: UnsafeRawBufferPointer) {
        var digest: UInt64 = 0
        // The first eight bytes are the number of the page, which differs where the content is the same.
        for offset in stride(from: 8, to: MetaPage.size - 8, by: 8) {
            digest = digest.mixed(with: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        content = digest
        let number = bytes.loadUnaligned(as: UInt64.self)
        let commit = bytes.loadUnaligned(fromByteOffset: MetaPage.size - 8, as: UInt64.self)
        whole = digest.mixed(with: number).mixed(with: commit)
    }
}
