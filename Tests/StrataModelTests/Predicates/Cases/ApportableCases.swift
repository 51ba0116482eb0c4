// Expectations from the tests of Apportable's Foundation, which were also run on iOS. Those about nil in memory are
// omitted where Core Data's store behaves differently.
// Lines of data are as long as they are.
// swift-format-ignore-file

let apportableCases = #"""
source apportable/Foundation 34191367 NSPredicateTests.m EqualsPredicate, LessThanOrEqualsPredicate, GreaterThanOrEqualsPredicate
objects ["Hello","He","Goodbye","goodbye"]
self = 'Hello' ⇒ 1
self == "Goodbye" ⇒ 1
objects [123,-123,123.00001]
self <= 123 ⇒ 2
objects ["","abc","ABC","XYZ","123","aabbcc","abcd","acb","b"]
self =< 'abc' ⇒ 6
objects [false,true,1,-1]
self >= 0 ⇒ 3
objects ["x z","xyz","xz","","x Z"]
self => 'x z' ⇒ 3
source apportable/Foundation 34191367 NSPredicateTests.m LessThanPredicate, GreaterThanPredicate, NotEqualPredicate
objects [0.9999,1]
SeLf < 1.0 ⇒ 1
objects ["01","2"]
SELF < %@ ← ["1"] ⇒ 1
objects [0,null]
self>-1 ⇒ 1
objects [" ","",null]
self > '' ⇒ 1
objects [true,0]
self != NO ⇒ 1
objects [42,41]
self <> 42 ⇒ 1
source apportable/Foundation 34191367 NSPredicateTests.m QuestionMark, Whitespace, NilObject, QuotedSubstitution, FormatWithValue
objects [123,null,"%@","nil"]
? = 'ABC' ⇒ refused
self == NiL ⇒ 1
self like 'nil' ⇒ 1
self == '%@' ⇒ 1
self = "%@" ⇒ 1
truePredicate ⇒ 4
FALSEpredicate ⇒ 0
source apportable/Foundation 34191367 NSPredicateTests.m BinaryOperatorPredicate
objects [40.0,-2]
self + %d = 42 ← [2] ⇒ 1
objects [42,70]
self == 70 - 28 ⇒ 1
objects [42,21]
(self + 21) / 42.0 > 1 ⇒ 1
objects [41,42]
(self / 2) * 2 <> self ⇒ 1
objects [6,2.9129506302439405]
(self) ** 2 * 2 = 72 ⇒ 1
source apportable/Foundation 34191367 NSPredicateTests.m AndOperatorPredicate, OrOperatorPredicate, NotOperatorPrediate, MultipleOperatorPredicate
objects [69,null]
%d < 42 aNd 42 < self ← [0] ⇒ 1
objects ["sbj","abC"]
'abc' =< self && self <= 'xyz' ⇒ 1
objects ["fish","dog"]
self == 'cat' or self != 'dog' ⇒ 1
objects ["M",null,"S"]
self == nil or (self <> 'S' and self <> 'L') ⇒ 2
objects [42,7]
NOT self != 42 ⇒ 1
objects [0,1]
!(YES == self or 42 == self) ⇒ 1
objects ["abc","123x","42","xyz"]
self = 'abc' or not self = 'xyz' and self != '123' ⇒ 3
source apportable/Foundation 34191367 NSPredicateTests.m ContainsPredicate, BeginsWithPredicate, EndsWithPredicate
objects ["abc","XYZabc","bca"]
self CONTAINS 'abc' ⇒ 2
objects ["aBc","aBcDeF","aa"]
'aBcDeF' beginswith self ⇒ 2
objects ["XXY","XYXXY","XXYY",""]
self endswith %@ ← ["XXY"] ⇒ 2
source apportable/Foundation 34191367 NSPredicateTests.m LikeWildcardPredicate
objects ["abc","ABC"]
self like 'abc' ⇒ 1
objects ["abc","ac","acc","abcdefc","ab"]
self like 'a*c' ⇒ 4
objects ["abc","ac","abbc"]
self like 'a?c' ⇒ 1
objects ["a",""]
self like '*?' ⇒ 1
objects ["abcde","abcfebbcce","aaabbbcccdddeeebbbccce","abcccccccde","aaabbbcccc","acde","acbe"]
self like 'a*b*c?e' ⇒ 4
objects ["aazz?","aabbcczzeeffzZ?","Aabcz?","aabbccz???"]
self like '?a*z?\?' ⇒ 2
source apportable/Foundation 34191367 NSPredicateTests.m InAggregatePredicate, ReservedWordPredicate, ValueSubstitutionPredicate
objects ["a",1,"1",null]
self in %@ ← [["a","b",1,2]] ⇒ 2
objects [[42],["a",42],["42"]]
self contains 42 ⇒ 2
objects [{"like":"like","age":42,"firstName":"Stephen","lastName":"Smith"}]
#like like 'like' ⇒ 1
age == %f ← [42.0] ⇒ 1
source apportable/Foundation 34191367 NSPredicateTests.m KeyPathPredicate, KeyPathSubstitutionPredicate, VariablePredicate, FunctionPredicate
age == %@ ← [42] ⇒ 1
firstName like 'Ste*en' ⇒ 1
lastName in %@ ← [["Tinker","Tailor","Smith","Sailer"]] ⇒ 1
%K == %@ ← ["age",42] ⇒ 1
%K like 'Ste*en' ← ["firstName"] ⇒ 1
%K in %@ ← ["lastName",["Tinker","Tailor","Smith","Sailer"]] ⇒ 1
firstName == $FIRST_NAME and lastName == $LAST_NAME ← [{"FIRST_NAME":"Stephen","LAST_NAME":"Smith"}] ⇒ 1
age == max(%@) ← [[21,42]] ⇒ 1
objects [{"age":17},{"age":42},{"age":99}]
age > 21 ⇒ 2
%K > 21 ← ["age"] ⇒ 2
age == min(%@) ← [[42,99]] ⇒ 1
source apportable/Foundation 34191367 NSPredicateTests.m AggregateLiteral, SizeOperator, FirstOperator, LastOperator, IndexOperator
objects [null]
{1, 2,3} = $arr ← [{"arr":[1,2,3]}] ⇒ 1
{1, 2,3} = $arr ← [{"arr":[1,2,3,4]}] ⇒ 0
{1, 2, 3}[SIZE] = 3 ⇒ 1
{}[SIZE] = 0 ⇒ 1
{1, 2, 3}[FIRST] = 1 ⇒ 1
{}[FIRST] = 1 ⇒ 0
{}[LAST] = 3 ⇒ 0
{1, 2, 1, 3, 1}[0] != 1 ⇒ 0
{1, 2, 1, 3, 1}[1] != 1 ⇒ 1
{1, 2, 1, 3, 1}[2] != 1 ⇒ 0
{1, 2, 1, 3, 1}[3] != 1 ⇒ 1
{1, 2, 1, 3, 1}[%d] != 1 ← [4] ⇒ 0
source apportable/Foundation 34191367 NSPredicateTests.m BetweenOperator, AnyModifier, AllModifier, SomeModifier, NoneModifier
42 BETWEEN {23, 50} ⇒ 1
42 BETWEEN {23} ⇒ refused
42 BETWEEN {0, 23, 50} ⇒ refused
ANY {0, 42, 100} BETWEEN {23, 50} ⇒ 1
ANY {0, 22, 100} BETWEEN {23, 50} ⇒ 0
ANY {} BETWEEN {23, 50} ⇒ 0
ALL {41, 42, 43} BETWEEN {23, 50} ⇒ 1
ALL {0, 22, 100} BETWEEN {23, 50} ⇒ 0
ALL {} BETWEEN {23, 50} ⇒ 1
SOME {0, 42, 100} BETWEEN {23, 50} ⇒ 1
SOME {0, 22, 51} BETWEEN {23, 50} ⇒ 0
SOME {} BETWEEN {23, 50} ⇒ 0
NONE {0, 22, 100} BETWEEN {23, 50} ⇒ 1
NONE {0, 43, 100} BETWEEN {23, 50} ⇒ 0
NONE {} BETWEEN {23, 50} ⇒ 1
source apportable/Foundation 34191367 NSExpressionTests.m SimpleMath, NewLines, Tabs, Escaped, SimpleMathWithComments
1+1 == 2 ⇒ 1
0x4444+0x2222 == 0x6666 ⇒ 1
1	+1 == 2 ⇒ 1
1\n+1 == 2 ⇒ refused
1+1 /* testing a comment */ == 2 ⇒ refused
1//+1 == 2 ⇒ refused
source apportable/Foundation 34191367 NSExpressionTests.m Statistics, Bounding
sum:({1, 2, 3}) == 6 ⇒ 1
count:({1, 2, 3}) == 3 ⇒ 1
average:({1, 2, 3}) == 2 ⇒ 1
min:({1, 2, 3}) == 1 ⇒ 1
max:({1, 2, 3}) == 3 ⇒ 1
median:({1, 2, 3}) == 2 ⇒ 1
mode:({1, 2, 3, 3}) == {3} ⇒ 1
stddev:({1, 2, 3}) BETWEEN {0.81649658, 0.81649659} ⇒ 1
ceiling:(3.3) == 4 ⇒ 1
trunc:(3.3) == 3 ⇒ 1
source apportable/Foundation 34191367 NSExpressionTests.m BasicArithmetics, AdvancedArithmetics
add:to:(1, 1) == 2 ⇒ 1
from:subtract:(3, 1) == 2 ⇒ 1
multiply:by:(2, 6) == 12 ⇒ 1
divide:by:(8, 2) == 4 ⇒ 1
modulus:by:(7, 2) == 1 ⇒ 1
abs:(-7) == 7 ⇒ 1
sqrt:(9) == 3 ⇒ 1
log:(9) BETWEEN {0.95424250, 0.95424252} ⇒ 1
ln:(9) BETWEEN {2.19722457, 2.19722458} ⇒ 1
floor:(3.3) == 3 ⇒ 1
raise:toPower:(4, 3) == 64 ⇒ 1
exp:(4) BETWEEN {54.5981500, 54.5981501} ⇒ 1
source apportable/Foundation 34191367 NSExpressionTests.m BitwiseArithmetics, Strings
bitwiseAnd:with:(4, 12) == 4 ⇒ 1
bitwiseOr:with:(4, 3) == 7 ⇒ 1
bitwiseXor:with:(4, 3) == 7 ⇒ 1
leftshift:by:(2, 3) == 16 ⇒ 1
rightshift:by:(4096, 1) == 2048 ⇒ 1
onesComplement:(8) == -9 ⇒ 1
lowercase:('FOO') == 'foo' ⇒ 1
uppercase:('foo') == 'FOO' ⇒ 1
"""#
