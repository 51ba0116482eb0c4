import Foundation
import StrataModel
import StrataTestSupport
import Testing

struct RoundTripTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func whatIsWrittenReadsAsTheSameTree(seed: UInt64) throws {
        var trees = RandomTree(seed: seed)
        for _ in 0..<250 {
            let tree = trees.predicate(4)
            let text = tree.description
            let read = try FetchPredicate(format: text)
            try #require(read == tree, "seed \(seed): \(text)")
            #expect(read.description == text)
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func expressionsAreReadBackToo(seed: UInt64) throws {
        var trees = RandomTree(seed: seed)
        for _ in 0..<250 {
            let tree = trees.expression(3)
            try #require(try FetchExpression(format: tree.description) == tree, "seed \(seed): \(tree)")
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func argumentsStandForWhatTheyAre(seed: UInt64) throws {
        var trees = RandomTree(seed: seed)
        for _ in 0..<100 {
            let value = trees.value(2)
            #expect(try FetchExpression(format: "%@", value) == .constant(value))
        }
    }

    /// A predicate may be sent or stored.
    @Test func treesAreCodable() throws {
        var trees = RandomTree(seed: 7)
        for _ in 0..<50 {
            let tree = trees.predicate(3)
            let data = try JSONEncoder().encode(tree)
            #expect(try JSONDecoder().decode(FetchPredicate.self, from: data) == tree)
        }
    }
}
