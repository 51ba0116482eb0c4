import Foundation
import StrataModel
import Testing

/// Templates of format strings give the same trees as parsing.
struct FormatTemplateTests {
    /// Parses the string without the cache.
    private func fresh(_ format: String, _ arguments: [Any?]) -> Result<FetchPredicate, StrataError> {
        result(format + String(repeating: " ", count: Int.random(in: 1...500)), arguments)
    }

    private func sentence(_ error: StrataError) -> String {
        (error.cause as? FetchFormatError)?.sentence ?? error.message
    }

    private func result(_ format: String, _ arguments: [Any?]) -> Result<FetchPredicate, StrataError> {
        do throws(StrataError) {
            return .success(try FetchPredicate(format: format, argumentArray: arguments))
        } catch { return .failure(error) }
    }

    @Test(
        arguments: [
            "name == %@", "%K == %@", "%K = %@ AND %K != %@", "a IN {%@, %@}", "a BETWEEN {%d, %d}",
            "NOT (a == %@ OR ANY b.c > %@)", "a IN %@", "%@ IN a", "a == -%d", "a == 0 - %d", "CAST(%@, 'NSDate') == a",
            "%K.name == %@", "a.%K == %@", "%K[0] == %@", "%@.@count == a", "SUBQUERY(a, $x, $x.b == %@).@count > %d",
            "TERNARY(a == %@, 1, 2) == b", "a CONTAINS[cd] %@", "FUNCTION(%@, 'uppercaseString') == a", "a == $V",
            "{a, %@} CONTAINS %@", "%K BETWEEN %@", "%d == %d", "'%@' == a", "a == %s AND b == %f", "a == 1",
            "%@", "a == %@ AND", "self.%K == %@",
        ] as [String])
    func whatIsKeptIsWhatIsRead(format: String) throws {
        let values: [Any?] = [
            "x", 5, -7, 1.5, nil, true, [1, 2], ["a", "b"], "in", "a.b", "SELF",
            Date(timeIntervalSinceReferenceDate: 5),
            FetchExpression.keyPath("k"), FetchExpression.function(.now, []), FetchExpression.variable("v"),
            [FetchExpression.keyPath("k")], FetchExpression.aggregate([.aggregate([.constant(1)])]), Double.nan, "a..b",
        ]
        for first in values {
            for second in values.prefix(9) {
                for arguments in [[], [first], [first, second], [first, second, first]] {
                    let wanted = fresh(format, arguments), found = result(format, arguments)
                    switch (wanted, found) {
                    case (.success(let wanted), .success(let found)):
                        #expect("\(wanted)" == "\(found)")
                        // NaN does not equal itself.
                        #expect(wanted == found || "\(arguments)".contains("nan"))
                    case (.failure(let wanted), .failure(let found)):
                        // The space after the string moves the location of an error at its end.
                        #expect(sentence(wanted) == sentence(found))
                    default: Issue.record("\(format), \(arguments): \(wanted) and \(found)")
                    }
                }
            }
        }
    }

    @Test func aStringThatWasReadBeforeStillSaysWhatIsWrong() throws {
        for _ in 0..<3 { _ = try FetchPredicate(format: "kept == %d", 5) }
        #expect(throws: StrataError.self) { try FetchPredicate(format: "kept == %d", "x") }
        #expect(throws: StrataError.self) { try FetchPredicate(format: "kept == %d") }
        #expect(throws: StrataError.self) { try FetchPredicate(format: "kept == %d", 5, 6) }
        #expect(try FetchPredicate(format: "kept == %d", 6) == .equal("kept", 6))
    }

    @Test func manyStringsAreReadAtOnce() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<2000).allSatisfy { number in
                        let key = "k\((number * 7 + task) % 700)"
                        return (try? FetchPredicate(format: "\(key) == %d", number))
                            == .equal(key, .integer(Int64(number)))
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
