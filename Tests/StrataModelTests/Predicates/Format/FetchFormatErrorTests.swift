import Foundation
import StrataModel
import StrataTestSupport
import Testing

struct FetchFormatErrorTests {
    private func problem(_ format: String, _ arguments: [Any?] = []) throws -> FetchFormatError {
        let error: StrataError
        do throws(StrataError) {
            let predicate = try FetchPredicate(format: format, argumentArray: arguments)
            Issue.record("\(format) was read as \(predicate)")
            throw StrataError(.invalidRequest, "")
        } catch let thrown { error = thrown }
        #expect(error.code == .invalidRequest)
        return try #require(error.cause as? FetchFormatError)
    }

    @Test(arguments: [
        ("", 1, "expected a value, found the end."),
        ("name ==", 8, "expected a value, found the end."),
        ("name", 5, "expected a comparison operator, found the end."),
        ("name = 'x' AN rating > 4", 12, "expected AND, OR or the end, found \"AN\"."),
        ("a == 1 b == 2", 8, "expected AND, OR or the end, found \"b\"."),
        ("(a == 1", 8, "expected a closing parenthesis, found the end."),
        ("a == 1)", 7, "expected AND, OR or the end, found \")\"."),
        ("()", 2, "expected a value, found \")\"."),
        ("a IN (1, 2)", 8, "expected a closing parenthesis, found \",\"; a list is written {a, b}"),
        ("a == 'x", 6, "this text is not closed by '."),
        ("age === 25", 7, "expected a value, found \"=\"."),
        ("in == 5", 1, "expected a value, found \"in\"; a property of that name is written #in"),
        ("a == 1 AND", 11, "expected a value, found the end."),
        ("a ==[x] 1", 6, "expected c, d, n, l or ], found \"x\"."),
        ("a[1 == 2", 5, "expected a closing bracket, found \"=\"."),
        ("a := 5", 3, "assigning with := is not supported; compare with ==."),
        ("ANYKEY == 5", 1, "ANYKEY is not supported; name the properties."),
        ("FETCH(a, b, NO) == 5", 1, "FETCH takes a request, a context, and YES or NO for counting only."),
        ("a UTI-EQUALS 'x'", 3, "UTI-CONFORMS-TO and UTI-EQUALS are not supported; compare with == or IN."),
        ("a == foo(1)", 6, "there is no function foo"),
        ("abs:(1, 2) == 1", 1, "abs: takes 1 argument, not 2."),
        (#"a MATCHES '\d+'"#, 12, #"there is no escape \d; a backslash itself is written \\."#),
        ("a == 1 OR (b == 2) + 3", 12, ""),
        ("a AND b", 3, "expected a comparison operator, found \"AND\"."),
        ("NOT a", 6, "expected a comparison operator, found the end."),
        ("ANY a", 6, "expected a comparison operator, found the end."),
        ("(a == 1) == 1", 10, "a condition cannot be compared."),
        ("a == 1 & b == 2", 12, "a condition cannot be compared."),
        ("TERNARY(a, 1, 2) == 1", 10, "expected a comparison operator, found \",\"."),
        ("a == 12x", 6, "12x is not a number."),
        ("größer == 'x' und", 15, "expected AND, OR or the end, found \"und\"."),
        ("a == %", 6, ""),
        ("a == %@", 6, "there is no argument for %@; 0 were given."),
        ("a == CAST('x', 'NSThing')", 16, ""),
        ("a == CAST('x', 'NSDate')", 6, "this cannot be cast to NSDate."),
        // Syntax of other languages, and typographic quotes.
        ("a == “x”", 6, "expected a value, found \"“\"; write text between two ' or two \""),
        ("a == ‘x’", 6, "expected a value, found \"‘\"; write text between two ' or two \""),
        ("a ≠ 1", 3, "expected a comparison operator, found \"≠\"; it is written !="),
        ("a ≤ 1", 3, "expected a comparison operator, found \"≤\"; it is written <="),
        ("größe − 1 == 2", 7, "expected a comparison operator, found \"−\"; a minus is written -"),
        (
            "made >= date'1999-12-31'", 13,
            "expected AND, OR or the end, found \"'\"; a date is written as text: '1999-12-31'"
        ),
        (
            "made >= DATE \"1999-12-31\"", 14,
            "expected AND, OR or the end, found '\"'; a date is written as text: '1999-12-31'"
        ),
        (
            "made >= TIMESTAMP '1999-12-31'", 19,
            "expected AND, OR or the end, found \"'\"; a date is written as text: '1999-12-31'"
        ),
        ("a IS NOT NULL", 3, "expected a comparison operator, found \"IS\"; to test for nil, write == nil"),
        ("a % 2 == 0", 3, "expected a comparison operator, found \"%\"; write the remainder as %%"),
        (
            "a == 1 ? b : c", 8,
            "expected AND, OR or the end, found \"?\"; write a choice as TERNARY(condition, value, value)"
        ),
        (
            "a BETWEEN 1 AND 2", 18,
            "expected a comparison operator, found the end; write bounds as BETWEEN {a, b}"
        ),
        ("😀 == 1", 1, "expected a value, found \"😀\"."),
        ("a == 1\u{A0}b == 2", 8, "expected AND, OR or the end, found \"b\"."),
        ("a == 1é", 6, "1é is not a number."),
        ("a == 5.b", 7, "expected AND, OR or the end, found \".\"."),
        ("a == 1ANDb == 2", 6, "1ANDb is not a number."),
        (
            "a = ANY b", 10,
            "expected a comparison operator, found the end; ANY, ALL and NONE must be before the left side of a comparison"
        ),
        // A name with a colon between two values is a call with two arguments.
        ("a canonical:b", 1, "canonical: takes 1 argument, not 2."),
        ("a == 1 OR b ABS:c", 11, "abs: takes 1 argument, not 2."),
        ("FUNCTION(a, 'abs:', b) == 1", 1, "abs: takes 1 argument, not 2."),
        ("ANY (a.b == 1)", 6, ""), ("CAST(a, 'NSThing') == 1", 9, ""), ("TRUEPREDICATE == YES", 15, ""),
    ])
    func errorsSayWhereAndWhat(format: String, column: Int, sentence: String) throws {
        let problem = try problem(format)
        #expect(problem.column == column)
        if !sentence.isEmpty { #expect(problem.sentence == sentence || problem.sentence == sentence + ".") }
    }

    @Test func theCaretStandsBelowTheError() throws {
        #expect(
            try problem("name == \"Ann\" AN rating > 4").description == """
                name == "Ann" AN rating > 4
                              ^
                """)
        #expect(
            try problem("a == 1 AND\nb ** == 2").description == """
                b ** == 2
                     ^
                """)
        let long = String(repeating: "a", count: 200) + " ! " + String(repeating: "b", count: 200)
        let lines = try problem(long).description.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].count < 130 && lines[0].hasPrefix("…") && lines[0].hasSuffix("…"))
        let caret = try #require(lines[1].firstIndex(of: "^"))
        let offset = lines[1].distance(from: lines[1].startIndex, to: caret)
        #expect(Array(lines[0])[offset] == "!")
    }

    /// Wide characters take two columns of a terminal, marks none, and control characters are shown as pictures.
    @Test(arguments: [
        ("名前 == 'あ' AN x", "名前 == 'あ' AN x\n             ^"), ("e\u{301} == 1 AN x", "e\u{301} == 1 AN x\n       ^"),
        ("a == '👩‍👩‍👧' AN x", "a == '👩‍👩‍👧' AN x\n          ^"), ("a ==\t'x' AN x", "a ==\t'x' AN x\n    \t    ^"),
        ("a == '\u{1B}[31m' AN x", "a == '␛[31m' AN x\n             ^"),
        ("a == '\u{7F}' AN x", "a == '␡' AN x\n         ^"),
        ("가 == 'ｦ' AN x", "가 == 'ｦ' AN x\n          ^"),
    ])
    func theCaretStandsBelowWideAndNarrowSigns(format: String, expected: String) throws {
        #expect(try problem(format).description == expected)
    }

    @Test func ofSeveralLinesTheOneIsNamed() throws {
        let error = #expect(throws: StrataError.self) { try FetchPredicate(format: "a == 1 AND\n\tb ** == 2") }
        #expect(error?.message.hasPrefix("Line 2, column 7: expected a value") ?? false)
        #expect(error?.message.hasSuffix("\n\tb ** == 2\n\t     ^") ?? false)
        let single = #expect(throws: StrataError.self) { try FetchPredicate(format: "a ** == 2") }
        #expect(single?.message.hasPrefix("Column 6: expected a value") ?? false)
    }

    @Test func argumentsMustFit() throws {
        #expect(try problem("a == %d", ["x"]).sentence == "%d takes a whole number of 64 bits, not string.")
        #expect(try problem("a == %d", [1.5]).expected == "a whole number of 64 bits")
        #expect(try problem("%K == 1", [5]).column == 1)
        #expect(try problem("%K == 1", ["a..b"]).column == 1)
        #expect(try problem("a == 1", [5]).sentence == "1 argument was given, but the format takes 0.")
        #expect(throws: StrataError.self) { try FetchPredicate(format: "a == %@", argumentArray: [Locale.current]) }
    }

    /// The string in parts, because arguments are printed: text before, repeated text, its count, text after.
    @Test(arguments: [
        ("", "(", 1 << 20, ""), ("", "((a == 1) AND ", 50_000, ""), ("", "NOT ", 200_000, ""), ("", "!", 1_000_000, ""),
        ("", "-", 1_000_000, ""), ("", "{", 1_000_000, ""), ("a == ", "1+", 500_000, "1"),
        ("a", "[0]", 300_000, " == 1"), ("", "SUBQUERY(a, $x, ", 60_000, ""), ("", "abs(", 200_000, ""),
        ("", "a == 1 OR (", 90_000, ""), ("", "ANY ", 250_000, ""),
    ])
    func deepNestingIsRefusedAtOnce(parts: (before: String, repeated: String, count: Int, behind: String)) {
        let format = parts.before + String(repeating: parts.repeated, count: parts.count) + parts.behind
        var code: StrataError.Code?
        let time = processorTime {
            do throws(StrataError) { _ = try FetchPredicate(format: format) } catch { code = error.code }
        }
        #expect(code == .invalidRequest)
        #expect(time < 5)
    }

    @Test func sizeIsBounded() throws {
        #expect(throws: StrataError.self) {
            try FetchPredicate(format: "a == '\(String(repeating: "x", count: 1 << 20))'")
        }
        let long = "a" + String(repeating: ".a", count: 400_000) + " == 1"
        guard case .comparison(let comparison) = try FetchPredicate(format: long),
            case .keyPath(let path) = comparison.left
        else {
            Issue.record("no key path")
            return
        }
        #expect(path.utf8.count == 800_001)
        let many = try FetchPredicate(format: (0..<50_000).map { "a == \($0)" }.joined(separator: " OR "))
        guard case .or(let parts) = many else {
            Issue.record("no OR")
            return
        }
        #expect(parts.count == 50_000)
        let listed = Array(repeating: 1, count: PredicateLimits.listedValues + 1)
        #expect(throws: StrataError.self) { try FetchPredicate(format: "a IN %@", listed) }
    }
}
