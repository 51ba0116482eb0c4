import StrataTestSupport
import Testing

/// The checker finds what it is there to find: each test plants one fault in a history without one.
@Suite struct SharedHistoryTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func digest(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }

    /// Two nodes; three saves one after the other, each followed by a look.
    private func sound() -> SharedHistory {
        var history = SharedHistory()
        for (index, node) in [0, 1, 0].enumerated() {
            let begin = index * 100
            history.saves.append(
                .init(author: "s\(index)", node: node, begin: at(begin), end: at(begin + 50), outcome: .acknowledged))
            history.looks.append(
                .init(
                    node: node, begin: at(begin + 60), end: at(begin + 61), transaction: UInt64(index) + 1,
                    digest: digest(index + 1)))
            history.log.append(
                .init(number: UInt64(index) + 1, author: "s\(index)", digest: digest(index + 1), isChained: true))
        }
        history.saves.append(.init(author: "no", node: 1, begin: at(400), end: at(410), outcome: .refused))
        history.saves.append(.init(author: "perhaps", node: 1, begin: at(420), end: at(430), outcome: .unknown))
        history.ends = [digest(3), digest(3)]
        history.views = ["same", "same"]
        return history
    }

    private func violations(_ plant: (inout SharedHistory) -> Void) -> Set<SharedHistory.Violation> {
        var history = sound()
        plant(&history)
        return history.violations
    }

    @Test func aSoundHistoryHasNoViolation() {
        #expect(sound().violations == [])
        // A save in doubt may be there or not.
        #expect(
            violations { $0.log.append(.init(number: 4, author: "perhaps", digest: digest(4), isChained: true)) } == [])
        // Of saves that overlap either may be first.
        #expect(
            violations {
                $0.saves[1].begin = at(40); $0.log.swapAt(0, 1); $0.renumber(); $0.looks = []
            } == [])
    }

    @Test func anAcknowledgedSaveThatIsNotInTheLogIsFound() {
        #expect(
            violations {
                $0.log[2].author = nil; $0.looks = []
            } == [.lost("s2")])
    }

    @Test func aSaveThatIsInTheLogTwiceIsFound() {
        let found = violations { $0.log.append(.init(number: 4, author: "s1", digest: digest(4), isChained: true)) }
        #expect(found.contains(.doubled("s1")))
    }

    @Test func aRefusedSaveThatIsInTheLogIsFound() {
        let found = violations { $0.log.append(.init(number: 4, author: "no", digest: digest(4), isChained: true)) }
        #expect(found == [.savedThoughRefused("no")])
    }

    @Test func aTransactionThatNobodySavedIsFound() {
        let found = violations { $0.log.append(.init(number: 4, author: "who", digest: digest(4), isChained: true)) }
        #expect(found == [.madeUp("who")])
    }

    @Test func anOrderAgainstTimeIsFound() {
        let found = violations {
            $0.log.swapAt(0, 2); $0.renumber(); $0.looks = []
        }
        #expect(found.contains(.againstTime(earlier: "s0", later: "s2")))
    }

    @Test func aGapInTheLogIsFound() {
        #expect(
            violations {
                $0.log[2].number = 4; $0.looks.removeLast()
            } == [.gap(4)])
    }

    @Test func aBrokenChainIsFound() {
        #expect(violations { $0.log[1].isChained = false } == [.brokenChain(2)])
    }

    @Test func aReadOfSomethingElseThanAPrefixIsFound() {
        let found = violations { $0.looks[2].digest = digest(9) }
        #expect(found == [.readOfNoPrefix(node: 0, transaction: 3)])
    }

    @Test func aNodeThatGoesBackIsFound() {
        let found = violations { history in
            history.looks.append(
                .init(node: 1, begin: at(300), end: at(301), transaction: 3, digest: digest(3)))
            history.looks.append(
                .init(node: 1, begin: at(310), end: at(311), transaction: 2, digest: digest(2)))
        }
        #expect(found == [.wentBack(node: 1, transaction: 2)])
    }

    @Test func aReadWithoutTheNodesOwnWriteIsFound() {
        let found = violations {
            $0.looks[1].transaction = 1; $0.looks[1].digest = digest(1)
        }
        #expect(found == [.ownWriteUnread("s1")])
    }

    @Test func nodesThatEndDifferentlyAreFound() {
        #expect(violations { $0.ends[1] = digest(2) } == [.differentEnds])
        #expect(violations { $0.views[0] = "other" } == [.differentViews])
    }
}

extension SharedHistory {
    /// Gives the entries the numbers of their places.
    fileprivate mutating func renumber() {
        for index in log.indices { log[index].number = UInt64(index) + 1 }
    }
}
