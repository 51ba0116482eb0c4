@testable import StrataModel
import StrataTestSupport
import Testing

@Suite struct ByteSearchTests {
    private func search(_ part: [UInt8], in text: [UInt8]) -> (offset: Int?, comparisons: Int) {
        var comparisons = 0
        let offset = part.withUnsafeBytes { part in
            text.withUnsafeBytes { ByteSearch.offset(of: part, in: $0, comparisons: &comparisons) }
        }
        return (offset, comparisons)
    }

    /// Parts and texts for which a search that begins anew at every byte takes a number of comparisons that is the
    /// product of their lengths.
    @Test(arguments: [
        ("a", "a", "b", 30_000, 30_000), ("a", "b", "a", 30_000, 30_000), ("ab", "ac", "", 15_000, 15_000),
        ("aab", "aac", "aab", 10_000, 10_000), ("a", "", "b", 60_000, 60_000), ("abababab", "c", "", 50, 4_000),
    ])
    func theNumberOfComparisonsIsLinear(unit: String, end: String, start: String, times: Int, textTimes: Int) {
        let part = Array((start + String(repeating: unit, count: times) + end).utf8)
        let text = Array(String(repeating: unit, count: 2 * textTimes).utf8)
        let (offset, comparisons) = search(part, in: text)
        #expect(offset == nil || end.isEmpty)
        #expect(comparisons <= 16 * (text.count + part.count), "\(comparisons)")
        let found = search(part, in: text + part)
        #expect(found.offset != nil)
        #expect(found.comparisons <= 16 * (text.count + 2 * part.count), "\(found.comparisons)")
    }

    @Test(arguments: RandomTesting.seeds) func findsWhatTryingEveryOffsetFinds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<4_000 {
            let letters = UInt8.random(in: 1...3, using: &random)
            func bytes(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in UInt8.random(in: 0..<letters, using: &random) }
            }
            let text = bytes(Int.random(in: 0...(round % 8 == 0 ? 2_000 : 60), using: &random))
            var part = bytes(Int.random(in: 0...(round % 8 == 0 ? 400 : 12), using: &random))
            if round % 3 == 0, !part.isEmpty { part = Array((0..<8).map { _ in part }.joined()) }
            let expected =
                text.count < part.count
                ? nil
                : (0...(text.count - part.count)).first {
                    text[$0..<$0 + part.count].elementsEqual(part)
                }
            #expect(search(part, in: text).offset == expected, "\(part) in \(text)")
        }
    }
}
