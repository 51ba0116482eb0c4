import Foundation
import StrataModel
import Testing

struct FormatParserTests {
    private func comparison(
        _ left: FetchExpression, _ operator: ComparisonPredicate.Operator, _ right: FetchExpression,
        _ modifier: ComparisonPredicate.Modifier = .direct, _ folding: StringFolding = []
    ) -> FetchPredicate {
        .comparison(ComparisonPredicate(left, `operator`, right, modifier: modifier, folding: folding))
    }

    @Test(
        arguments: [
            ("a = 1", .equalTo), ("a == 1", .equalTo), ("a != 1", .notEqualTo), ("a <> 1", .notEqualTo),
            ("a < 1", .lessThan), ("a <= 1", .lessThanOrEqualTo), ("a =< 1", .lessThanOrEqualTo),
            ("a > 1", .greaterThan),
            ("a >= 1", .greaterThanOrEqualTo), ("a => 1", .greaterThanOrEqualTo), ("a BETWEEN 1", .between),
            ("a in 1", .in), ("a Like 1", .like), ("a matches 1", .matches), ("a contains 1", .contains),
            ("a beginswith 1", .beginsWith), ("a EndsWith 1", .endsWith), ("a=1", .equalTo), ("a<-1", .lessThan),
        ] as [(String, ComparisonPredicate.Operator)])
    func everySpellingOfAnOperatorIsRead(format: String, expected: ComparisonPredicate.Operator) throws {
        guard case .comparison(let comparison) = try FetchPredicate(format: format) else {
            Issue.record("\(format) is no comparison")
            return
        }
        #expect(comparison.operator == expected)
        #expect(comparison.left == .keyPath("a"))
    }

    @Test(
        arguments: [
            ("a ==[c] b", [.caseInsensitive]), ("a ==[d] b", [.diacriticInsensitive]),
            ("a CONTAINS [CD] b", [.caseInsensitive, .diacriticInsensitive]), ("a LIKE[n] b", []), ("a LIKE[cn] b", []),
            ("a BEGINSWITH[cdl] b", [.caseInsensitive, .diacriticInsensitive]), ("a <[l] b", []),
        ] as [(String, StringFolding)])
    func optionsFold(format: String, expected: StringFolding) throws {
        guard case .comparison(let comparison) = try FetchPredicate(format: format) else {
            Issue.record("\(format) is no comparison")
            return
        }
        #expect(comparison.folding == expected)
    }

    @Test func logicBindsAsItShould() throws {
        let (a, b, c) = (FetchPredicate.equal("a", 1), FetchPredicate.equal("b", 2), FetchPredicate.equal("c", 3))
        #expect(try FetchPredicate(format: "a = 1 OR b = 2 AND c = 3") == .or([a, .and([b, c])]))
        #expect(try FetchPredicate(format: "(a = 1 OR b = 2) && c = 3") == .and([.or([a, b]), c]))
        #expect(try FetchPredicate(format: "a = 1 and b = 2 AND c = 3") == .and([a, b, c]))
        #expect(try FetchPredicate(format: "a=1||b=2||c=3") == .or([a, b, c]))
        #expect(try FetchPredicate(format: "a=1AND b=2Or c=3") == .or([.and([a, b]), c]))
        #expect(try FetchPredicate(format: "(a = 1 AND b = 2) AND c = 3") == .and([.and([a, b]), c]))
        #expect(try FetchPredicate(format: "NOT a = 1 AND b = 2") == .and([.not(a), b]))
        #expect(try FetchPredicate(format: "!(a = 1) OR not not b = 2") == .or([.not(a), .not(.not(b))]))
        #expect(try FetchPredicate(format: "a NOT IN {1}") == .not(.isIn("a", [1])))
        #expect(
            try FetchPredicate(format: "TRUEPREDICATE OR FalsePredicate") == .or([.constant(true), .constant(false)]))
    }

    @Test func quantifiersAreRead() throws {
        let any = comparison(.keyPath("a.b"), .equalTo, .constant(1), .any)
        #expect(try FetchPredicate(format: "ANY a.b = 1") == any)
        #expect(try FetchPredicate(format: "some a.b = 1") == any)
        #expect(try FetchPredicate(format: "NONE a.b = 1") == .not(any))
        #expect(try FetchPredicate(format: "ALL a.b = 1") == comparison(.keyPath("a.b"), .equalTo, .constant(1), .all))
        #expect(
            try FetchPredicate(format: "ANY a.b NOT IN {1}")
                == .not(
                    comparison(
                        .keyPath("a.b"), .in, .aggregate([.constant(1)]), .any)))
    }

    @Test(
        arguments: [
            ("1", 1), ("-7", -7), ("- 7", -7), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("2.5E-1", 0.25),
            ("0x1F", 31), ("5.", 5.0), ("5.e3", 5000.0), ("(5.)", 5.0),
            ("0o17", 15), ("0b101", 5), ("'text'", "text"), ("\"it's\"", "it's"), ("'say \"x\"'", "say \"x\""),
            (#"'it\'s'"#, "it's"), (#"'\101\x42\u0043\U00000044'"#, "ABCD"), (#"'\ud83d\ude00'"#, "😀"),
            (#"'a\n\t\\'"#, "a\n\t\\"), (#"'\*'"#, "*"), ("TRUE", true), ("yes", true), ("False", false), ("NO", false),
            ("NULL", .null), ("nil", .null), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .decimal(Decimal(string: "9223372036854775808") ?? 0)), ("'%@ %%'", "%@ %%"),
            ("CAST(1.5, 'NSDate')", .date(Date(timeIntervalSinceReferenceDate: 1.5))),
            ("CAST('2001-01-02', 'NSDate')", .date(Date(timeIntervalSinceReferenceDate: 86_400))),
            ("CAST('1.5', 'NSDate')", .date(Date(timeIntervalSinceReferenceDate: 1.5))),
            ("CAST('0.1', 'NSDecimalNumber')", .decimal(Decimal(string: "0.1") ?? 0)),
            (
                "CAST('85d4fbee-6ec6-47df-bfa1-615931903d7e', 'NSUUID')",
                .uuid(UUID(uuidString: "85d4fbee-6ec6-47df-bfa1-615931903d7e") ?? UUID())
            ),
            ("CAST(5, 'NSString')", "5"), ("CAST('12', 'int')", 12), ("{: \"a\": 1}", .composite(["a": 1])),
        ] as [(String, AttributeValue)])
    func literalsAreRead(format: String, expected: AttributeValue) throws {
        #expect(try FetchExpression(format: format) == .constant(expected))
    }

    @Test func namesAreRead() throws {
        #expect(try FetchExpression(format: "a.b_c.Größe") == .keyPath("a.b_c.Größe"))
        #expect(try FetchExpression(format: "SELF") == .evaluatedObject)
        #expect(try FetchExpression(format: "self.a") == .keyPath("a"))
        #expect(try FetchExpression(format: "#in.#select") == .keyPath("in.select"))
        #expect(try FetchExpression(format: "a.in.first") == .keyPath("a.in.first"))
        #expect(try FetchExpression(format: "#'my key'.b") == .keyPath("my key.b"))
        #expect(try FetchExpression(format: "size") == .keyPath("size"))
        #expect(try FetchExpression(format: "a.@count") == .keyPath("a.@count"))
        #expect(try FetchExpression(format: "(SELF.a).b") == .keyPath("a.b"))
        #expect(try FetchExpression(format: "$x.name") == .keyPathOf(.variable("x"), "name"))
        #expect(try FetchExpression(format: "a.$x") == .keyPath("a.$x"))
        // Other letters whose upper case is ASCII do not make reserved words.
        #expect(try FetchExpression(format: "ſelf") == .keyPath("ſelf"))
        #expect(try FetchExpression(format: "ﬁrst.ŉame") == .keyPath("ﬁrst.ŉame"))
        // Spaces of any kind, and invisible characters.
        #expect(
            try FetchExpression(format: "\u{FEFF}a\u{A0}.\u{3000}b\u{2003}[\u{200B}FIRST\u{2028}]").description
                == "a.b[FIRST]")
        #expect(try FetchPredicate(format: "a\u{A0}IN\u{A0}{1}\u{A0}") == .isIn("a", [1]))
    }

    @Test func arithmeticBindsAsItShould() throws {
        func function(_ function: FetchFunction, _ arguments: FetchExpression...) -> FetchExpression {
            .function(function, arguments)
        }
        let (a, b, c) = (FetchExpression.keyPath("a"), FetchExpression.keyPath("b"), FetchExpression.keyPath("c"))
        #expect(try FetchExpression(format: "a + b * c") == function(.add, a, function(.multiply, b, c)))
        #expect(try FetchExpression(format: "a - b - c") == function(.subtract, function(.subtract, a, b), c))
        #expect(try FetchExpression(format: "a * b ** c") == function(.multiply, a, function(.power, b, c)))
        #expect(try FetchExpression(format: "-a ** b") == function(.subtract, .constant(0), function(.power, a, b)))
        #expect(
            try FetchExpression(format: "-2 ** 2")
                == function(
                    .subtract, .constant(0), function(.power, .constant(2), .constant(2))))
        #expect(try FetchExpression(format: "(a + b) / c") == function(.divide, function(.add, a, b), c))
        #expect(try FetchExpression(format: "a & b | c") == function(.bitwiseOr, function(.bitwiseAnd, a, b), c))
        #expect(
            try FetchExpression(format: "~a << 2")
                == function(
                    .leftShift, function(.onesComplement, a), .constant(2)))
        #expect(try FetchExpression(format: "a %% 2") == function(.modulus, a, .constant(2)))
        #expect(try FetchExpression(format: "a UNION b MINUS c") == .set(.minus, .set(.union, a, b), c))
    }

    @Test func callsAreRead() throws {
        let (a, b) = (FetchExpression.keyPath("a"), FetchExpression.keyPath("b"))
        #expect(try FetchExpression(format: "multiply:by:(a, b)") == .function(.multiply, [a, b]))
        #expect(try FetchExpression(format: "sum(a)") == .function(.sum, [a]))
        #expect(
            try FetchExpression(format: "max:({1, 2})") == .function(.max, [.aggregate([.constant(1), .constant(2)])]))
        #expect(try FetchExpression(format: "now()") == .function(.now, []))
        #expect(try FetchExpression(format: "FUNCTION(a, 'abs:')") == .function(.absolute, [a]))
        #expect(
            try FetchExpression(format: "FUNCTION(a, 'pathExtension')")
                == .function(.init(rawValue: "pathExtension"), [a]))
        #expect(try FetchExpression(format: "cast(a, \"NSDate\")") == .function(.cast, [a, .constant("NSDate")]))
        #expect(try FetchExpression(format: "TERNARY(a == 1, a, b)") == .conditional(.equal("a", 1), a, b))
        #expect(
            try FetchExpression(format: "SUBQUERY(a, $x, $x.c > b).@count")
                == .keyPathOf(
                    .subquery(a, variable: "x", comparison(.keyPathOf(.variable("x"), "c"), .greaterThan, b)), "@count")
        )
        #expect(try FetchExpression(format: "a[ FIRST ]") == .element(a, at: .first))
        #expect(
            try FetchExpression(format: "a[b][LAST].c") == .keyPathOf(.element(.element(a, at: .at(b)), at: .last), "c")
        )
        #expect(try FetchExpression(format: "a[size]") == .element(a, at: .size))
        #expect(
            try FetchExpression(format: "a[first + 1]")
                == .element(
                    a, at: .at(.function(.add, [.keyPath("first"), .constant(1)]))))
        #expect(
            try FetchPredicate(format: "self isKindOfClass: a")
                == comparison(
                    .function(.init(rawValue: "isKindOfClass:"), [.evaluatedObject, a]), .equalTo, .constant(true)))
    }

    // MARK: Arguments

    private enum Rating: Int, FetchArgument { case poor = 1, good = 5 }

    @Test func argumentsOfEveryTypeStand() throws {
        let id = UUID(), url = URL(filePath: "/x"), data = Data([1, 2])
        let object = ObjectID(rawValue: 5 << 48 | 7)
        func constant(_ argument: (any FetchArgument)?) throws -> FetchExpression {
            try FetchExpression(format: "%@", argument)
        }
        #expect(try constant("x") == .constant("x"))
        #expect(try constant("xyz".dropFirst()) == .constant("yz"))
        #expect(try constant(Int8(-1)) == .constant(-1))
        #expect(try constant(UInt64.max) == .constant(.decimal(Decimal(UInt64.max))))
        #expect(try constant(Float(0.1)) == .constant(0.1))
        #expect(try constant(Decimal(2)) == .constant(.decimal(2)))
        #expect(try constant(true) == .constant(true))
        #expect(
            try constant(Date(timeIntervalSinceReferenceDate: 3))
                == .constant(.date(Date(timeIntervalSinceReferenceDate: 3))))
        #expect(try constant(id) == .constant(.uuid(id)))
        #expect(try constant(url) == .constant(.url(url)))
        #expect(try constant(data) == .constant(.data(data)))
        #expect(try constant(object) == .constant(.objectID(object)))
        #expect(try constant(nil) == .constant(.null))
        #expect(try constant(NSNull()) == .constant(.null))
        #expect(try constant(String?.none) == .constant(.null))
        #expect(try constant(Rating.good) == .constant(5))
        #expect(try constant([1, 2]) == .aggregate([.constant(1), .constant(2)]))
        #expect(try constant([Int?.none, 2]) == .aggregate([.constant(.null), .constant(2)]))
        #expect(try constant(Set(["x"])) == .aggregate([.constant("x")]))
        #expect(try constant(1...9) == .aggregate([.constant(1), .constant(9)]))
        #expect(try constant(FetchExpression.keyPath("a.b")) == .keyPath("a.b"))
        #expect(try constant(NSNumber(value: 1.5)) == .constant(1.5))
        #expect(try constant(NSNumber(value: true)) == .constant(true))
        #expect(try constant(NSNumber(value: 7)) == .constant(7))
    }

    @Test func specifiersTakeTheirArguments() throws {
        #expect(try FetchPredicate(format: "%K = %d", "a.b", 5) == .equal("a.b", 5))
        #expect(
            try FetchPredicate(format: "%K.b = %i AND c = %ld", "a", 5, 6) == .and([.equal("a.b", 5), .equal("c", 6)]))
        #expect(try FetchPredicate(format: "ANY %K.%K.@count = %lld", "a", "b", 5) == .any("a.b.@count", .equalTo, 5))
        #expect(
            try FetchPredicate(format: "a = %u OR a = %lu OR a = %x OR a = %llu", 1, 2, 3, 4)
                == .or([
                    .equal("a", 1), .equal("a", 2), .equal("a", 3), .equal("a", 4),
                ]))
        #expect(try FetchPredicate(format: "a BETWEEN {%f, %lf}", 1.5, 2) == .between("a", 1.5, 2.0))
        #expect(
            try FetchPredicate(format: "a = %s OR a = %c", "x", Character("y"))
                == .or([.equal("a", "x"), .equal("a", "y")]))
        #expect(
            try FetchPredicate(format: "a = '%@' AND b LIKE \"%K\"") == .and([.equal("a", "%@"), .like("b", "%K")]))
        #expect(try FetchPredicate(format: "%K = 1", "SELF") == .equal("SELF", 1))
        #expect(
            try FetchPredicate(format: "a = %@ AND b IN %@", argumentArray: ["x", [1, "y", NSNull()] as [Any]])
                == .and([.equal("a", "x"), .isIn("b", [1, "y", .null])]))
        #expect(
            try FetchExpression(format: "%@ + 1", argumentArray: [2.5])
                == .function(.add, [.constant(2.5), .constant(1)]))
    }

    /// Files of format strings are read this way by the tool.
    @Test func withoutArgumentsTheSpecifiersStay() throws {
        for format in [
            "%K == %@ AND %K.%K > %d", "a IN %@ OR CAST(a, %@) == 1", "FUNCTION(a, %@, 1) == %f",
            "ANY %K.name CONTAINS[cd] %@", "a BETWEEN {%@, %@}", "%@ IN b[%d]",
        ] {
            #expect(try FetchPredicate(formatWithPlaceholders: format).description == format)
        }
    }

    @Test func variablesAreReplaced() throws {
        let template = try FetchPredicate(
            format: "a > $LOW AND SUBQUERY(b, $x, $x.c == $NAME AND $x.d == address.$FIELD).@count > 0")
        #expect(template.freeVariables == ["LOW", "NAME", "FIELD"])
        let filled = try template.withSubstitutionVariables(["LOW": 5, "NAME": nil, "FIELD": "street"])
        #expect(
            filled.description == """
                a > 5 AND SUBQUERY(b, $x, $x.c == nil AND $x.d == address.street).@count > 0
                """)
        #expect(throws: StrataError.self) { try template.withSubstitutionVariables(["LOW": 5]) }
        let path = try FetchPredicate(format: "$record.$age = 34")
            .withSubstitutionVariables(["record": FetchExpression.keyPath("Record1"), "age": "Age"])
        #expect(path == .equal("Record1.Age", 34))
    }
}
