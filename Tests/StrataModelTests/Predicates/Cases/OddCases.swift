// Unusual format strings. These expectations are not from a public test suite; the source of each is the rule that it
// follows from, as Strata reads it.
// Lines of data are as long as they are.
// swift-format-ignore-file

let oddCases = #"""
source Strata's reading of IEEE 754 and 64-bit integers: numbers are compared by what they are worth
objects [{"big":9223372036854775807,"f":1.5,"z":0}]
big == 9223372036854775807 ⇒ 1
big == 9223372036854775806 ⇒ 0
big > 9223372036854775806 ⇒ 1
big < 9223372036854775808 ⇒ 1
big != 9223372036854775808 ⇒ 1
big + 1 > big ⇒ 1
0 - big - 2 < -9223372036854775807 ⇒ 1
-9223372036854775808 < -9223372036854775807 ⇒ 1
z == -0.0 ⇒ 1
z == 0x0 ⇒ 1
f == 15e-1 ⇒ 1
f == .15E+1 ⇒ 1
f BETWEEN {1, 2} ⇒ 1
f BETWEEN {2, 1} ⇒ 0
z IN {-0.0, 5} ⇒ 1
f IN {1, 1.50} ⇒ 1
1 / z > 0 ⇒ 0
NOT 1 / z > 0 ⇒ 1
f == 1e999 ⇒ refused
source Strata's reading of the format string syntax guide: arithmetic, and precedence as in C with ** above
objects [{"a":7,"b":2}]
a / b == 3 ⇒ 1
a / 2.0 == 3.5 ⇒ 1
-a / b == -3 ⇒ 1
6 / b == 3 ⇒ 1
b ** 10 == 1024 ⇒ 1
b ** -1 == 0.5 ⇒ 1
-b ** 2 == -4 ⇒ 1
2 + 3 * 4 - 1 == 13 ⇒ 1
a - b - 1 == 4 ⇒ 1
- -a == 7 ⇒ 1
modulus:by:(-7, 3) == -1 ⇒ 1
a & 3 == 3 ⇒ 1
a | 8 == 15 ⇒ 1
a ^ b == 5 ⇒ 1
1 << 4 >> 2 == 4 ⇒ 1
~a == -8 ⇒ 1
source Strata's reading of the predefined functions of NSExpression, collection operators and indexes
objects [{"l":[1,2,3],"e":[],"n":null,"s":"Abc"}]
l[SIZE] == 3 ⇒ 1
l[FIRST] == 1 AND l[LAST] == 3 AND l[1] == 2 ⇒ 1
l[9] == nil ⇒ 1
l[-1] == nil ⇒ 1
e[FIRST] == nil ⇒ 1
l.@count == 3 AND e.@count == 0 ⇒ 1
l.@sum.self == 6 AND l.@avg.self == 2 ⇒ 1
l.@max.self - l.@min.self == 2 ⇒ 1
e.@sum.self == 0 ⇒ 1
e.@max.self == nil ⇒ 1
sum:(l) == 6 AND median:(l) == 2 AND stddev:({5, 5}) == 0 ⇒ 1
max:(l) == 3 AND min:(3, 1, 2) == 1 ⇒ 1
count:(l) == 3 ⇒ 1
length:(s) == 3 AND s.length == 3 ⇒ 1
uppercase:(s) == 'ABC' AND lowercase:(s) == 'abc' ⇒ 1
abs:(-3) == 3 AND floor:(-1.5) == -2 AND ceiling:(-1.5) == -1 AND trunc:(-1.5) == -1 ⇒ 1
sqrt:(9) == 3 AND ln:(exp:(0)) == 0 AND log:(1000) == 3 ⇒ 1
objectFrom:withIndex:(l, 2) == 3 ⇒ 1
FUNCTION(s, 'uppercaseString') == 'ABC' ⇒ 1
CAST('2.50', 'NSDecimalNumber') * 2 == 5 ⇒ 1
CAST(12, 'NSString') BEGINSWITH '1' ⇒ 1
source Strata's reading of the format string syntax guide: SUBQUERY, TERNARY and quantifiers
objects [{"l":[1,2,3],"e":[],"n":null}]
SUBQUERY(l, $x, $x > 1).@count == 2 ⇒ 1
SUBQUERY(l, $x, SUBQUERY(l, $y, $y > $x).@count == 0)[FIRST] == 3 ⇒ 1
SUBQUERY(SUBQUERY(l, $x, $x > 1), $x, $x < 3).@count == 1 ⇒ 1
SUBQUERY(e, $x, $x > 1)[SIZE] = 0 ⇒ 1
TERNARY(n == nil, 'x', 'y') == 'x' ⇒ 1
TERNARY(l.@count > 2, TERNARY(e.@count > 0, 1, 2), 3) == 2 ⇒ 1
ANY l > 2 ⇒ 1
ANY e > 2 ⇒ 0
ALL e > 2 ⇒ 1
NONE e > 2 ⇒ 1
NONE l > 2 ⇒ 0
SOME l IN {3, 4} ⇒ 1
ANY l BETWEEN {3, 9} ⇒ 1
NOT ANY l == 9 ⇒ 1
l UNION {4} == {1, 2, 3, 4} ⇒ 1
l MINUS {1} INTERSECT {2, 7} == {2} ⇒ 1
{3, 2, 1} == l ⇒ 1
2 IN l AND l CONTAINS 2 ⇒ 1
source Strata's own: arithmetic over one collection is done for each member
ANY l + 1 > 3 ⇒ 1
ALL l * 2 > 1 ⇒ 1
NONE l - 1 > 2 ⇒ 1
10 - l == {9, 8, 7} ⇒ 1
ANY abs:(l - 3) == 2 ⇒ 1
ANY e + 1 > 0 ⇒ 0
ANY l + l > 1 ⇒ refused
l + 1 > 3 ⇒ refused
FETCH('Movie', nil, YES) == 1 ⇒ refused
source Strata's reading of Unicode TR15 and TR21: case, diacritics, composition
objects [{"t":"ÉCLAIR","s":"","u":"straße","j":"👩‍👩‍👧","p":"a*c","q":"a.c"}]
t ==[c] 'éclair' ⇒ 1
t ==[d] 'ECLAIR' ⇒ 1
t ==[cd] 'eclair' AND t ==[dc] 'eclair' ⇒ 1
t == 'eclair' ⇒ 0
t == 'E\u0301CLAIR' ⇒ 1
t BEGINSWITH[cd] 'ec' AND t ENDSWITH[c] 'lair' AND t CONTAINS[c] 'clai' ⇒ 1
t IN[cd] {'x', 'eclair'} ⇒ 1
s == '' AND s == "" AND length:(s) == 0 ⇒ 1
s != '' ⇒ 0
s LIKE '' AND s LIKE '*' AND s LIKE '**' ⇒ 1
s LIKE '?' ⇒ 0
s MATCHES '' AND s MATCHES '.*' ⇒ 1
s == nil ⇒ 0
length:(j) == 1 ⇒ 1
p LIKE 'a\\*c' ⇒ 1
q LIKE 'a\\*c' ⇒ 0
q MATCHES 'a\\.c' ⇒ 1
p MATCHES 'a\\.c' ⇒ 0
q LIKE 'a?c' AND p LIKE 'a*' ⇒ 1
'x' == "x" ⇒ 1
'it\'s' == "it's" ⇒ 1
"\x41\102\u0043" == 'ABC' ⇒ 1
source Strata's reading of the format string syntax guide: a specifier in quotes is text; reserved words with #
objects [{"and":1,"first":{"size":2},"in":{"or":3},"d":"%d"}]
#and == 1 ⇒ 1
#in.#or == 3 ⇒ 1
in.#or == 3 ⇒ refused
first.size == 2 ⇒ 1
d == '%d' ⇒ 1
%K == 1 ← ["and"] ⇒ 1
%K == 3 ← ["in.or"] ⇒ 1
%K.%K == %d ← ["first","size",2] ⇒ 1
first.%K == 2 ← ["size"] ⇒ 1
%K IN %@ ← ["and",[1,2]] ⇒ 1
%K == %@ ← ["and"] ⇒ refused
and == 1 ⇒ refused
#and == %d ← ["x"] ⇒ refused
#and == $V AND first.$K == 2 ← [{"V":1,"K":"size"}] ⇒ 1
$V == #and ← [{"V":1}] ⇒ 1
$V[0] == 1 ⇒ refused
source Strata's reading of Core Data's store semantics: a comparison with a missing value is false, == nil asks for it
objects [{"n":null,"v":1}]
n == nil AND n = NULL AND NIL == n ⇒ 1
n != nil ⇒ 0
n != 5 ⇒ 0
n == 5 OR n < 5 OR n > 5 OR n <= 5 OR n >= 5 ⇒ 0
NOT n == 5 ⇒ 1
n IN {1, nil} ⇒ 1
n IN {1, 2} ⇒ 0
n BETWEEN {0, 9} ⇒ 0
n CONTAINS 'x' OR n LIKE '*' OR n MATCHES '.*' OR n BEGINSWITH '' ⇒ 0
n == v OR n != v ⇒ 0
n + 1 == 1 ⇒ 0
n.x.y == nil ⇒ 1
"""#
