// Expectations from Apple's documentation of Core Data and of predicates.
// Lines of data are as long as they are.
// swift-format-ignore-file

let appleCases = #"""
source Apple, Predicate Programming Guide, Predicate Format String Syntax: basic comparisons
objects [{"n":1,"s":"x"},{"n":2,"s":"y"},{"n":3,"s":null}]
n = 2 ⇒ 1
n == 2 ⇒ 1
n >= 2 ⇒ 2
n => 2 ⇒ 2
n <= 2 ⇒ 2
n =< 2 ⇒ 2
n > 2 ⇒ 1
n < 2 ⇒ 1
n != 2 ⇒ 2
n <> 2 ⇒ 2
1 BETWEEN {0, 33} ⇒ 3
n BETWEEN {1, 2} ⇒ 2
TRUEPREDICATE ⇒ 3
FALSEPREDICATE ⇒ 0
source Apple, Predicate Programming Guide, Predicate Format String Syntax: compounds
n == 1 AND s == 'x' ⇒ 1
n == 1 && s == 'y' ⇒ 0
n == 1 OR n == 2 ⇒ 2
n == 1 || n == 3 ⇒ 2
NOT n == 1 ⇒ 2
! (n == 1) ⇒ 2
source Apple, Predicate Programming Guide, Predicate Format String Syntax: string comparisons
objects ["abc","aBc","äbc","ab"]
SELF BEGINSWITH 'ab' ⇒ 2
SELF BEGINSWITH[c] 'AB' ⇒ 3
SELF BEGINSWITH[cd] 'AB' ⇒ 4
SELF CONTAINS 'bc' ⇒ 2
SELF ENDSWITH 'bc' ⇒ 2
SELF LIKE 'a?c' ⇒ 2
SELF LIKE '?b*' ⇒ 3
SELF LIKE[cd] 'A*' ⇒ 4
SELF MATCHES 'a[bB]c?' ⇒ 3
SELF MATCHES 'b' ⇒ 0
SELF LIKE 'b' ⇒ 0
source Apple, Predicate Programming Guide, Predicate Format String Syntax: aggregate operations
objects [{"age":17,"children":[{"age":1},{"age":20}]},{"age":40,"children":[{"age":20}]},{"age":50,"children":[]}]
ANY children.age < 18 ⇒ 1
SOME children.age < 18 ⇒ 1
ALL children.age < 18 ⇒ 1
NONE children.age < 18 ⇒ 2
age IN {17, 50} ⇒ 2
children[0].age == 20 ⇒ 1
children[FIRST].age == 1 ⇒ 1
children[LAST].age == 20 ⇒ 2
children[SIZE] == 0 ⇒ 1
children[5].age == 1 ⇒ 0
source Apple, Predicate Programming Guide, Predicate Format String Syntax: literals
TRUE == YES ⇒ 3
FALSE == NO ⇒ 3
0x10 == 16 ⇒ 3
0o17 == 15 ⇒ 3
0b101 == 5 ⇒ 3
1.5e2 == 150 ⇒ 3
"a" == 'a' ⇒ 3
#in == nil ⇒ 3
source Apple, Predicate Programming Guide, Using Predicates: nil and Boolean values
objects [{"firstName":null,"b":true},{"firstName":"Ben","b":false}]
firstName = nil ⇒ 1
firstName != nil ⇒ 1
firstName = NULL ⇒ 1
firstName = %@ ← [null] ⇒ 1
b = TRUE ⇒ 1
b == NO ⇒ 1
b = 1 ⇒ 1
firstName like[c] 'b*' ⇒ 1
source Strata's reading of how Core Data's SQLite store compares NULL: a comparison with a missing value is false, == nil asks for it
objects [{"v":null,"w":null,"l":[]},{"v":5,"w":null,"l":[null,3]},{"v":5,"w":5,"l":[5]}]
v == 5 ⇒ 2
v != 5 ⇒ 0
v != 4 ⇒ 2
NOT v == 5 ⇒ 1
v < 9 ⇒ 2
v BETWEEN {0, 9} ⇒ 2
v IN {5, 6} ⇒ 2
v IN {5, nil} ⇒ 3
v == w ⇒ 1
v != w ⇒ 0
v == nil ⇒ 1
nil == v ⇒ 1
v != nil ⇒ 2
nil != v ⇒ 2
v + 1 == 6 ⇒ 2
v + 1 == nil ⇒ 1
v CONTAINS 'x' ⇒ 0
ANY l == 5 ⇒ 1
ANY l == nil ⇒ 1
ANY l != nil ⇒ 2
ALL l == 5 ⇒ 2
NONE l == 5 ⇒ 2
v / 0 == nil ⇒ 3
source Apple, Key-Value Coding Programming Guide, Using Collection Operators
objects [{"items":[{"p":1,"k":"a"},{"p":2,"k":"b"},{"p":3,"k":"a"}],"one":{"items":[{"p":9}],"name":"x"}},{"items":[],"one":null}]
items.@count == 3 ⇒ 1
items.@sum.p == 6 ⇒ 1
items.@sum.p == 0 ⇒ 1
items.@avg.p == 2 ⇒ 1
items.@avg.p == nil ⇒ 1
items.@min.p == 1 ⇒ 1
items.@max.p == 3 ⇒ 1
items.p.@max == 3 ⇒ 1
items.@distinctUnionOfObjects.k.@count == 2 ⇒ 1
items.@unionOfObjects.k.@count == 3 ⇒ 1
source Strata's reading of Core Data: key paths over a to-one that leads nowhere, and over a to-many without quantifier
one.items.@count == 1 ⇒ 1
one.name == 'x' ⇒ 1
one.name == nil ⇒ 1
one.name != 'y' ⇒ 1
one.items.@count == 0 ⇒ 0
ANY one.items.p > 5 ⇒ 1
items.@nothing.p == 1 ⇒ refused
items.p == 1 ⇒ refused
source Apple, NSExpression, init(forSubquery:usingIteratorVariable:predicate:)
SUBQUERY(items, $x, $x.p > 1).@count == 2 ⇒ 1
SUBQUERY(items, $x, $x.p > 1 AND $x.k == 'a').@count == 1 ⇒ 1
SUBQUERY(items, $x, SUBQUERY(items, $y, $y.k == $x.k).@count > 1).@count == 2 ⇒ 1
source Strata's reading of NSExpression, init(forSubquery:usingIteratorVariable:predicate:)
SUBQUERY(items, $x, $x.p == one.items.@count).@count == 1 ⇒ 1
ANY SUBQUERY(items, $x, $x.p > 1).k == 'b' ⇒ 1
SUBQUERY(items, $x, $x.p > 1).@sum.p == 5 ⇒ 1
source Apple, NSExpression, init(forFunction:arguments:)
objects [{"n":9,"d":-2.5,"s":"Äpfel","l":[1,2,2,4]}]
sqrt:(n) == 3 ⇒ 1
abs:(d) == 2.5 ⇒ 1
floor:(d) == -3 ⇒ 1
ceiling:(d) == -2 ⇒ 1
trunc:(d) == -2 ⇒ 1
exp:(0) == 1 ⇒ 1
ln:(1) == 0 ⇒ 1
log:(100) == 2 ⇒ 1
raise:toPower:(2, 10) == 1024 ⇒ 1
modulus:by:(n, 4) == 1 ⇒ 1
from:subtract:(n, 4) == 5 ⇒ 1
add:to:(n, 4) == 13 ⇒ 1
uppercase:(s) == 'ÄPFEL' ⇒ 1
lowercase:(s) == 'äpfel' ⇒ 1
length:(s) == 5 ⇒ 1
sum:(l) == 9 ⇒ 1
count:(l) == 4 ⇒ 1
average:(l) == 2.25 ⇒ 1
median:(l) == 2 ⇒ 1
mode:(l) == {2} ⇒ 1
stddev:({2,4,4,4,5,5,7,9}) == 2 ⇒ 1
max:(l) == 4 ⇒ 1
min:(3, 1, 2) == 1 ⇒ 1
bitwiseAnd:with:(12, 10) == 8 ⇒ 1
bitwiseOr:with:(12, 10) == 14 ⇒ 1
bitwiseXor:with:(12, 10) == 6 ⇒ 1
leftshift:by:(1, 4) == 16 ⇒ 1
rightshift:by:(16, 2) == 4 ⇒ 1
onesComplement:(0) == -1 ⇒ 1
noindex:(n) == 9 ⇒ 1
random() >= 0 ⇒ 1
now() > CAST(0, "NSDate") ⇒ 1
source Strata's reading of functions that the reference names without saying what they return, and of CAST
divide:by:(n, 2) == 4 ⇒ 1
canonical:(s) == 'apfel' ⇒ 1
objectFrom:withIndex:(l, 3) == 4 ⇒ 1
castObject:toType:("12", "NSNumber") == 12 ⇒ 1
randomn:(5) BETWEEN {0, 4} ⇒ 1
CAST(now(), "NSNumber") == 1000 ⇒ 1
FUNCTION(now(), "dateByAddingTimeInterval:", -1000) == CAST(0, "NSDate") ⇒ 1
FUNCTION(s, "uppercaseString") == "ÄPFEL" ⇒ 1
s isKindOfClass: "NSString" ⇒ refused
distanceToLocation:fromLocation:(s, s) == 1 ⇒ refused
source Strata's reading of the format string syntax guide: arithmetic
2 + 3 * 4 == 14 ⇒ 1
(2 + 3) * 4 == 20 ⇒ 1
2 ** 3 ** 2 == 64 ⇒ 1
-2 ** 2 == -4 ⇒ 1
10 - 4 - 3 == 3 ⇒ 1
7 / 2 == 3 ⇒ 1
7 / 2.0 == 3.5 ⇒ 1
6 / 2 == 3 ⇒ 1
7 %% 3 == 1 ⇒ 1
9223372036854775807 + 1 > 9223372036854775807 ⇒ 1
"""#
