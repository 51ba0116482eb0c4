import Foundation
import Testing

@Suite struct PredicateCommandTests {
    private func run(_ lines: String, _ options: String = "") throws -> Tool.Result {
        try Tool.shell("printf '%s' \"$(cat <<'EOF'\n\(lines)\nEOF\n)\" | $strata predicate - \(options)")
    }

    @Test func validLinesArePrintedInCanonicalForm() throws {
        let result = try run("name like[c] %@ and  %K.count>5\n\nANY  a.b in {1,2}")
        #expect(
            result.output == """
                1: name LIKE[c] %@ AND %K.count > 5
                3: ANY a.b IN {1, 2}
                2 valid, 0 invalid

                """)
        #expect(result.exitCode == 0)
    }

    @Test func wrongLinesAreShownWithACaret() throws {
        let result = try run("a == 1\nname = 'x' AN rating > 4")
        #expect(
            result.output == """
                1: a == 1
                2: error: Column 12: expected AND, OR or the end, found "AN".
                name = 'x' AN rating > 4
                           ^
                1 valid, 1 invalid

                """)
        #expect(result.exitCode == 1)
    }

    @Test func jsonIsOneObjectALine() throws {
        let result = try run("a = %d\nb ==", "--json")
        #expect(
            result.output == """
                {"canonical":"a == %d","format":"a = %d","line":1}
                {"column":5,"error":"expected a value, found the end.","expected":"a value","format":"b ==","line":2}
                {"invalid":1,"valid":1}

                """)
        #expect(result.exitCode == 1)
    }

    @Test func aMissingFileIsBadUsage() throws {
        let result = try Tool.run("predicate", "/nowhere/predicates.txt")
        #expect(result.exitCode == 2)
        #expect(result.output.isEmpty && result.error.hasPrefix("strata: /nowhere/predicates.txt cannot be read"))
        #expect(try Tool.run("predicate", "/dev/null").output == "0 valid, 0 invalid\n")
    }
}
