// Expectations from the tests of Swift Foundation (Apache-2.0).
// Lines of data are as long as they are.
// swift-format-ignore-file

let swiftFoundationCases = #"""
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift basics
objects [{"a":1,"b":"Hello","c":2.3,"d":4,"f":true,"g":[5,6,7,8,9],"h":{"A":1,"B":2},"i":{"$date":63113904000},"j":null,"k":{"$uuid":"85D4FBEE-6EC6-47DF-BFA1-615931903D7E"},"l":{"$data":"123"},"m":{"$url":"http://apple.com"}}]
a == 2 ⇒ 0
a + 2 == 4 ⇒ 0
b.length == 5 ⇒ 1
length:(b) == 5 ⇒ 1
g.@count == 5 ⇒ 1
SUBQUERY(g, $_local_1, $_local_1 == d).@count > 0 ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift equality
a == 0 ⇒ 0
a != 0 ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift ranges
i BETWEEN {i, i} ⇒ 1
i >= i AND i < i ⇒ 0
i >= %@ AND i < %@ ← [{"$date":700000000},{"$date":700000000}] ⇒ 0
i BETWEEN %@ ← [[{"$date":700000000},{"$date":700000000}]] ⇒ 0
i >= %@ ← [{"$date":700000000}] ⇒ 1
i <= %@ ← [{"$date":700000000}] ⇒ 0
i < %@ ← [{"$date":700000000}] ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift rangesDistinctBounds
objects [{"i":{"$date":150}},{"i":{"$date":250}}]
i >= %@ AND i < %@ ← [{"$date":100},{"$date":200}] ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift nonObjCConstantKeyPath
objects [{"a":1,"b":"Hello","c":2.3,"d":4,"f":true,"g":[5,6,7,8,9],"h":{"A":1,"B":2},"i":{"$date":63113904000},"j":null,"k":{"$uuid":"85D4FBEE-6EC6-47DF-BFA1-615931903D7E"},"l":{"$data":"123"},"m":{"$url":"http://apple.com"}}]
a == 1 ⇒ 1
f == YES ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift subscripts
(SELF.g)[0] == 2 ⇒ 0
(SELF.g)[0] == 5 ⇒ 1
(SELF.h)['A'] == 1 ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift stringSearching
b CONTAINS 'foo' ⇒ 0
b BEGINSWITH 'foo' ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift expressionEnforcement
YES == YES ⇒ 1
NO == YES ⇒ 0
(YES == YES) && (NO == YES) ⇒ 0
TERNARY(f == YES AND YES == YES, YES, NO) == NO ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift conditional
TERNARY(f == YES, YES, NO) == YES ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift optionals
TERNARY(j != NULL, j, '').length == 0 ⇒ 1
TERNARY(TERNARY(j != nil, j.length, nil) != nil, TERNARY(j != nil, j.length, nil), 1 * -1) > 1 ⇒ 0
j == nil ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift uuid
k == %@ ← [{"$uuid":"85D4FBEE-6EC6-47DF-BFA1-615931903D7E"}] ⇒ 1
k == %@ ← [{"$uuid":"95D4FBEE-6EC6-47DF-BFA1-615931903D7E"}] ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift date, data, url
i > %@ ← [{"$date":700000000}] ⇒ 1
l == %@ ← [{"$data":"123"}] ⇒ 1
m == %@ ← [{"$url":"http://apple.com"}] ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift sequenceContainsWhere, sequenceAllSatisfy
SUBQUERY(g, $_local_1, $_local_1 == 2).@count != 0 ⇒ 0
SUBQUERY(g, $_local_1, NOT ($_local_1 == 2)).@count == 0 ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift maxMin
g.@max.#self == g.@min.#self ⇒ 0
g.@max.#self == 9 ⇒ 1
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift stringComparison
TERNARY(b ==[c] 'ABC', 0, TERNARY(b <[c] 'ABC', -1, 1)) == 0 ⇒ 0
TERNARY(b ==[l] 'ABC', 0, TERNARY(b <[l] 'ABC', -1, 1)) == 0 ⇒ 0
b CONTAINS[cdl] 'ABC' ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift nested
a == 3 AND a > 2 ⇒ 0
source swiftlang/swift-foundation 767ff1c2 Tests/FoundationEssentialsTests/PredicateConversionTests.swift regex
b MATCHES '.*[e-f][l-m].*' ⇒ 1
"""#
