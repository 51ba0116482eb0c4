import StrataModel
import StrataTestSupport
import Testing

@testable import StrataGraph

/// The rule for one-to-ones by itself, over every way in which two people can have two passports.
@Suite struct PartnerMergeTests {
    private static let passport = PropertyID(rawValue: 10), holder = PropertyID(rawValue: 20)
    private static let nobody = ObjectID(rawValue: 0)
    /// People are 1 and 2, passports 3 and 4.
    private static let ends = (1...4).map { number in
        LinkEnd(
            object: ObjectID(rawValue: UInt64(number)), property: number < 3 ? passport : holder,
            inverse: number < 3 ? holder : passport)
    }
    /// Who leads to whom, in order of the ends.
    private static let matchings: [[UInt64]] = [
        [0, 0, 0, 0], [3, 0, 1, 0], [4, 0, 0, 1], [0, 3, 2, 0], [0, 4, 0, 2], [3, 4, 1, 2], [4, 3, 2, 1],
    ]

    private struct Case {
        let base, theirs, mine: [UInt64]

        func merge(_ words: [PartnerMerge.Word?]) -> PartnerMerge {
            PartnerMerge(
                Dictionary(
                    uniqueKeysWithValues: PartnerMergeTests.ends.enumerated().map { index, end in
                        var state = PartnerMerge.End()
                        state.base = ObjectID(rawValue: base[index])
                        state.theirs = ObjectID(rawValue: theirs[index])
                        state.mine = ObjectID(rawValue: mine[index])
                        state.isChanged = base[index] != mine[index]
                        state.word = words[index]
                        return (end, state)
                    }))
        }

        func result(_ words: [PartnerMerge.Word?]) -> [UInt64] {
            let settled = merge(words).settled()
            return PartnerMergeTests.ends.indices.map {
                settled[PartnerMergeTests.ends[$0]]?.rawValue ?? theirs[$0]
            }
        }

        var contested: [Bool] {
            base.indices.map { base[$0] != mine[$0] && theirs[$0] != base[$0] && theirs[$0] != mine[$0] }
        }
    }

    private static let cases = matchings.flatMap { base in
        matchings.flatMap { theirs in matchings.map { Case(base: base, theirs: theirs, mine: $0) } }
    }

    private static func words(_ word: PartnerMerge.Word, at ends: [Bool]) -> [PartnerMerge.Word?] {
        ends.map { $0 ? word : nil }
    }

    private static let none: [PartnerMerge.Word?] = [nil, nil, nil, nil]

    @Test func bothEndsSayTheSameWhateverIsDecidedAboutEach() {
        let choices: [PartnerMerge.Word?] = [nil, .mine, .theirs]
        for example in Self.cases {
            for number in 0..<81 {
                let words = [
                    choices[number % 3], choices[number / 3 % 3], choices[number / 9 % 3], choices[number / 27],
                ]
                let result = example.result(words)
                for (index, target) in result.enumerated() where target != 0 {
                    #expect(result[Int(target) - 1] == UInt64(index + 1), "\(example) \(words): \(result)")
                    // Nobody has a partner whom neither side gave him.
                    #expect(target == example.theirs[index] || target == example.mine[index], "\(example) \(words)")
                }
            }
        }
    }

    @Test func whatOneSideDidAloneIsDone() {
        for example in Self.cases {
            if example.base == example.mine { #expect(example.result(Self.none) == example.theirs, "\(example)") }
            if example.base == example.theirs { #expect(example.result(Self.none) == example.mine, "\(example)") }
        }
    }

    /// Sets of links merge as members of a to-many do where no end is in conflict.
    @Test func changesOfDifferentPartnersAreBothMade() {
        var compared = 0
        for example in Self.cases where !example.contested.contains(true) {
            let expected = example.base.indices.map { index in
                example.mine[index] != example.base[index] ? example.mine[index] : example.theirs[index]
            }
            #expect(example.result(Self.none) == expected, "\(example)")
            compared += 1
        }
        #expect(compared > 50)
    }

    @Test func whoWinsEverywhereHasAllLinks() {
        for example in Self.cases {
            #expect(example.result(Self.words(.theirs, at: [true, true, true, true])) == example.theirs, "\(example)")
            #expect(example.result(Self.words(.mine, at: [true, true, true, true])) == example.mine, "\(example)")
        }
    }

    /// A link that loses one end is gone at both, and what it had cut stands again.
    @Test func whereTheirsWinNothingOfALostLinkRemains() {
        for example in Self.cases {
            let contested = example.contested
            let result = example.result(Self.words(.theirs, at: contested))
            for (index, isContested) in contested.enumerated() where isContested {
                #expect(result[index] == example.theirs[index], "\(example): \(result)")
                let lost = example.mine[index]
                guard lost != 0, example.theirs[index] != lost else { continue }
                #expect(result[Int(lost) - 1] != UInt64(index + 1), "\(example): \(result)")
            }
            // A link that both had before is only cut where a link of mine, or a cut that stands by itself, needs it.
            for index in 0..<2 where example.base[index] != 0 && example.base[index] == example.theirs[index] {
                let partner = Int(example.base[index]) - 1
                guard result[index] != example.base[index] else { continue }
                let mine = [example.mine[index], example.mine[partner]]
                let isReplaced = result[index] == mine[0] && mine[0] != 0 || result[partner] == mine[1] && mine[1] != 0
                #expect(isReplaced || mine == [0, 0], "\(example): \(result)")
            }
        }
    }

    @Test func whereMineWinTheirsYield() {
        for example in Self.cases {
            let contested = example.contested
            let result = example.result(Self.words(.mine, at: contested))
            // Without a word it is shown as it is here.
            #expect(result == example.result(Self.none), "\(example)")
            for (index, isContested) in contested.enumerated() where isContested {
                #expect(result[index] == example.mine[index], "\(example): \(result)")
            }
        }
    }

    /// What does not stand is told, with who won.
    @Test func lostLinksAreTold() {
        for example in Self.cases {
            for word in [PartnerMerge.Word.mine, .theirs] {
                let merge = example.merge(Self.words(word, at: example.contested))
                let settled = merge.settled()
                let told = Set(merge.overruled(by: settled).map(\.end))
                for (index, end) in Self.ends.enumerated() {
                    let now = settled[end]?.rawValue ?? example.theirs[index]
                    let lostMine =
                        example.mine[index] != example.base[index] && example.mine[index] != 0
                        && example.mine[index] != now
                    let lostTheirs =
                        example.theirs[index] != example.base[index] && example.theirs[index] != 0
                        && example.theirs[index] != now
                    #expect(told.contains(end) == (lostMine || lostTheirs), "\(example) \(word)")
                }
            }
        }
    }
}
