import StrataModel
import Testing

@Suite struct SlotSetTests {
    @Test func slotsComeInOrderWhereverTheyStand() {
        var set = SlotSet([200, 3, 63, 64, 0])
        #expect(Array(set) == [0, 3, 63, 64, 200] && set.slots == Array(set) && set.count == 5)
        set.remove(64)
        set.remove(3)
        set.remove(500)
        set.insert(1)
        #expect(Array(set) == [0, 1, 63, 200])
        #expect(set.contains(200) && !set.contains(64) && !set.contains(500))
    }

    @Test func wordsWithoutSlotsMakeNoDifference() {
        var set = SlotSet([1, 100])
        set.remove(100)
        #expect(set == SlotSet([1]) && set.hashValue == SlotSet([1]).hashValue)
        #expect(SlotSet(first: 2, rest: [0, 0]) == SlotSet([1]))
        #expect(!set.isEmpty && SlotSet(first: 0, rest: [0]).isEmpty && SlotSet().slots.isEmpty && SlotSet().count == 0)
    }

    @Test func disjointSetsShareNoSlot() {
        #expect(SlotSet([1, 64]).isDisjoint(with: SlotSet([2, 65, 200])))
        #expect(!SlotSet([1, 64]).isDisjoint(with: SlotSet([2, 64])))
        #expect(!SlotSet([1]).isDisjoint(with: SlotSet([1, 100])))
        #expect(SlotSet().isDisjoint(with: SlotSet([0])))
    }
}
