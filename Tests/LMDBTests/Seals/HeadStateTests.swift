@testable import LMDB
import Testing

/// How two meta pages and the newest seal fit together, as a damage or a power cut may leave them.
@Suite struct HeadStateTests {
    /// A meta page with two fields filled in: the number of its commit, and a number that stands for its trees.
    private static func page(_ commit: UInt64, trees: UInt64) -> [UInt8] {
        var words = [UInt64](repeating: 0, count: MetaPage.size / 8)
        words[MetaPage.mainOffset / 8 + 5] = trees
        words[MetaPage.size / 8 - 1] = commit
        return words.withUnsafeBytes(Array.init)
    }

    private static func seal(_ page: [UInt8], _ commit: UInt64) -> Seal {
        Seal(
            commit: commit, head: page.withUnsafeBytes { HeadDigest($0) }, EntrySum(lastPage: 20), session: 1, file: 1,
            isRelaxed: false)
    }

    /// - Returns: the state, or what is said to be wrong.
    private static func state(_ first: [UInt8], _ second: [UInt8], _ newest: Seal, before: Seal? = nil) -> String {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                do throws(HeadState.Damage) {
                    return "\(try HeadState.of((first, second), newest: newest, before: before, mayBeOlder: false))"
                } catch {
                    return error.sentence
                }
            }
        }
    }

    /// A power cut kept the seal of commit 10 and lost those of the commits after it, the last of which has its trees
    /// on the pages of commit 10.
    @Test(arguments: [13, 14, 30] as [UInt64]) func aLaterCommitMayHaveTheTreesOfTheSealedOne(commit: UInt64) {
        let sealed = Self.seal(Self.page(10, trees: 7), 10)
        let (newest, other) = (Self.page(commit, trees: 7), Self.page(commit - 1, trees: 8))
        let pages = commit & 1 == 0 ? (newest, other) : (other, newest)
        #expect(Self.state(pages.0, pages.1, sealed) == "unsealed")
    }

    /// The same trees so soon, or beside a head that is not of the commit before: the number is damaged.
    @Test func aSealedHeadWithAnotherNumberIsDamaged() {
        let sealed = Self.seal(Self.page(10, trees: 7), 10)
        let damage = "the head of commit 10 has another number"
        #expect(Self.state(Self.page(14, trees: 7), Self.page(9, trees: 6), sealed) == damage)
        #expect(Self.state(Self.page(11, trees: 7), Self.page(9, trees: 6), sealed) == damage)
        // The commit after the sealed one was made and not sealed.
        #expect(Self.state(Self.page(12, trees: 7), Self.page(11, trees: 8), sealed) == damage)
        #expect(Self.state(Self.page(26, trees: 7), Self.page(11, trees: 8), sealed) == damage)
    }

    @Test func aHeadIsSealedOneAheadOrOlder() {
        let page = Self.page(10, trees: 7)
        let (sealed, before) = (Self.seal(page, 10), Self.seal(Self.page(9, trees: 6), 9))
        #expect(Self.state(page, Self.page(9, trees: 6), sealed) == "sealed")
        #expect(Self.state(page, Self.page(11, trees: 8), sealed, before: before) == "oneAhead")
        #expect(
            Self.state(page, Self.page(11, trees: 6), sealed, before: before)
                == "the head of commit 9 has another number")
        #expect(Self.state(Self.page(12, trees: 9), Self.page(11, trees: 8), sealed) == "unsealed")
    }
}
