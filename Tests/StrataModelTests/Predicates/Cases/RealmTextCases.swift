// Expectations about text from the tests of Realm Swift (Apache-2.0).
// Lines of data are as long as they are.
// swift-format-ignore-file

let realmTextCases = #"""
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testStringBeginsWith
objects [{"s": "abc"}, {"s": "üvw"}, {"s": "ûvw"}, {"s": "uvw"}, {"s": "stü"}]
%K BEGINSWITH 'a' ← ["s"] ⇒ 1
%K BEGINSWITH 'ab' ← ["s"] ⇒ 1
%K BEGINSWITH 'abc' ← ["s"] ⇒ 1
%K BEGINSWITH 'abcd' ← ["s"] ⇒ 0
%K BEGINSWITH 'abd' ← ["s"] ⇒ 0
%K BEGINSWITH 'c' ← ["s"] ⇒ 0
%K BEGINSWITH 'A' ← ["s"] ⇒ 0
%K BEGINSWITH[c] 'a' ← ["s"] ⇒ 1
%K BEGINSWITH[c] 'A' ← ["s"] ⇒ 1
%K BEGINSWITH 'u' ← ["s"] ⇒ 1
%K BEGINSWITH[c] 'U' ← ["s"] ⇒ 1
%K BEGINSWITH[d] 'u' ← ["s"] ⇒ 3
%K BEGINSWITH[cd] 'U' ← ["s"] ⇒ 3
%K BEGINSWITH 'ü' ← ["s"] ⇒ 1
%K BEGINSWITH[c] 'Ü' ← ["s"] ⇒ 1
%K BEGINSWITH[d] 'ü' ← ["s"] ⇒ 3
%K BEGINSWITH[cd] 'Ü' ← ["s"] ⇒ 3
%K BEGINSWITH NULL ← ["s"] ⇒ 0
%K BEGINSWITH[c] NULL ← ["s"] ⇒ 0
%K BEGINSWITH[d] NULL ← ["s"] ⇒ 0
%K BEGINSWITH[cd] NULL ← ["s"] ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testStringEndsWith
objects [{"s": "abc"}, {"s": "üvw"}, {"s": "ûvw"}, {"s": "uvü"}, {"s": "stu"}]
%K ENDSWITH 'c' ← ["s"] ⇒ 1
%K ENDSWITH 'bc' ← ["s"] ⇒ 1
%K ENDSWITH 'abc' ← ["s"] ⇒ 1
%K ENDSWITH 'aabc' ← ["s"] ⇒ 0
%K ENDSWITH 'bbc' ← ["s"] ⇒ 0
%K ENDSWITH 'a' ← ["s"] ⇒ 0
%K ENDSWITH 'C' ← ["s"] ⇒ 0
%K ENDSWITH[c] 'c' ← ["s"] ⇒ 1
%K ENDSWITH[c] 'C' ← ["s"] ⇒ 1
%K ENDSWITH 'u' ← ["s"] ⇒ 1
%K ENDSWITH[c] 'U' ← ["s"] ⇒ 1
%K ENDSWITH[d] 'u' ← ["s"] ⇒ 2
%K ENDSWITH[cd] 'U' ← ["s"] ⇒ 2
%K ENDSWITH 'ü' ← ["s"] ⇒ 1
%K ENDSWITH[c] 'Ü' ← ["s"] ⇒ 1
%K ENDSWITH[d] 'ü' ← ["s"] ⇒ 2
%K ENDSWITH[cd] 'Ü' ← ["s"] ⇒ 2
%K ENDSWITH NULL ← ["s"] ⇒ 0
%K ENDSWITH[c] NULL ← ["s"] ⇒ 0
%K ENDSWITH[d] NULL ← ["s"] ⇒ 0
%K ENDSWITH[cd] NULL ← ["s"] ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testStringContains
objects [{"s": "abc"}, {"s": "tüv"}, {"s": "tûv"}, {"s": "tuv"}]
%K CONTAINS 'a' ← ["s"] ⇒ 1
%K CONTAINS 'b' ← ["s"] ⇒ 1
%K CONTAINS 'c' ← ["s"] ⇒ 1
%K CONTAINS 'ab' ← ["s"] ⇒ 1
%K CONTAINS 'bc' ← ["s"] ⇒ 1
%K CONTAINS 'abc' ← ["s"] ⇒ 1
%K CONTAINS 'd' ← ["s"] ⇒ 0
%K CONTAINS 'aabc' ← ["s"] ⇒ 0
%K CONTAINS 'bbc' ← ["s"] ⇒ 0
%K CONTAINS 'C' ← ["s"] ⇒ 0
%K CONTAINS[c] 'c' ← ["s"] ⇒ 1
%K CONTAINS[c] 'C' ← ["s"] ⇒ 1
%K CONTAINS 'u' ← ["s"] ⇒ 1
%K CONTAINS[c] 'U' ← ["s"] ⇒ 1
%K CONTAINS[d] 'u' ← ["s"] ⇒ 3
%K CONTAINS[cd] 'U' ← ["s"] ⇒ 3
%K CONTAINS 'ü' ← ["s"] ⇒ 1
%K CONTAINS[c] 'Ü' ← ["s"] ⇒ 1
%K CONTAINS[d] 'ü' ← ["s"] ⇒ 3
%K CONTAINS[cd] 'Ü' ← ["s"] ⇒ 3
%K CONTAINS NULL ← ["s"] ⇒ 0
%K CONTAINS[c] NULL ← ["s"] ⇒ 0
%K CONTAINS[d] NULL ← ["s"] ⇒ 0
%K CONTAINS[cd] NULL ← ["s"] ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testStringLike
objects [{"s": "abc"}]
%K LIKE '*a*' ← ["s"] ⇒ 1
%K LIKE '*b*' ← ["s"] ⇒ 1
%K LIKE '*c' ← ["s"] ⇒ 1
%K LIKE 'ab*' ← ["s"] ⇒ 1
%K LIKE '*bc' ← ["s"] ⇒ 1
%K LIKE 'a*bc' ← ["s"] ⇒ 1
%K LIKE '*abc*' ← ["s"] ⇒ 1
%K LIKE '*d*' ← ["s"] ⇒ 0
%K LIKE 'aabc' ← ["s"] ⇒ 0
%K LIKE 'b*bc' ← ["s"] ⇒ 0
%K LIKE '?b?' ← ["s"] ⇒ 1
%K LIKE '*?c' ← ["s"] ⇒ 1
%K LIKE 'ab?' ← ["s"] ⇒ 1
%K LIKE '?bc' ← ["s"] ⇒ 1
%K LIKE '?d?' ← ["s"] ⇒ 0
%K LIKE '?abc' ← ["s"] ⇒ 0
%K LIKE 'b?bc' ← ["s"] ⇒ 0
%K LIKE '*C*' ← ["s"] ⇒ 0
%K LIKE[c] '*c*' ← ["s"] ⇒ 1
%K LIKE[c] '*C*' ← ["s"] ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testStringEquality
objects [{"s": "abc"}, {"s": "tüv"}, {"s": "tûv"}, {"s": "tuv"}]
%K == 'abc' ← ["s"] ⇒ 1
%K != 'def' ← ["s"] ⇒ 4
%K ==[c] 'abc' ← ["s"] ⇒ 1
%K ==[c] 'ABC' ← ["s"] ⇒ 1
%K != 'abc' ← ["s"] ⇒ 3
%K == 'def' ← ["s"] ⇒ 0
%K == 'ABC' ← ["s"] ⇒ 0
%K == 'tuv' ← ["s"] ⇒ 1
%K ==[c] 'TUV' ← ["s"] ⇒ 1
%K ==[d] 'tuv' ← ["s"] ⇒ 3
%K ==[cd] 'TUV' ← ["s"] ⇒ 3
%K != 'tuv' ← ["s"] ⇒ 3
%K !=[c] 'TUV' ← ["s"] ⇒ 3
%K !=[d] 'tuv' ← ["s"] ⇒ 1
%K !=[cd] 'TUV' ← ["s"] ⇒ 1
"""#
