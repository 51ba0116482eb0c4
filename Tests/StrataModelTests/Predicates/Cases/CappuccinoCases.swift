// Expectations from the tests of Cappuccino.
// Lines of data are as long as they are.
// swift-format-ignore-file

let cappuccinoCases = #"""
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testSetExpressionEvaluation
{'a','b','c'} INTERSECT {'a','b','d'} == {'a','b'} ⇒ 1
{'a','b','c'} UNION {'a','b','d'} == {'a','b','c','d'} ⇒ 1
{'a','b','c'} MINUS {'a','b','d'} == {'c'} ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testFunctionExpressionEvaluation
sum:(1, 2, 3) == 6 ⇒ 1
FUNCTION('text', 'substringFromIndex:', 2) == 'xt' ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testVariableExpressionEvaluation, testSubqueryExpressionEvaluation
objects [{"title":"A Title","Record1":{"Name":"John","Age":34,"Children":["Kid1","Kid2"]},"Record2":{"Name":"Mary","Age":30,"Children":["Kid1","Girl1"]}}]
$variable == 20 ← [{"variable":20}] ⇒ 1
SUBQUERY(Record1.Children, $x, $x BEGINSWITH $KidVariable) == {'Kid1', 'Kid2'} ← [{"KidVariable":"Kid"}] ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testConditionalExpressionEvaluation
objects ["OBJ"]
TERNARY(SELF = $variable, "TRUE_EXP", "FALSE_EXP") == "TRUE_EXP" ← [{"variable":"OBJ"}] ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testOptions
"àa" ==[d] "aà" ⇒ 1
"aB" ==[c] "Ab" ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testModifier
objects [{"title":"A Title","Record1":{"Name":"John","Age":34,"Children":["Kid1","Kid2"]},"Record2":{"Name":"Mary","Age":30,"Children":["Kid1","Girl1"]}}]
ANY Record2.Children BEGINSWITH "Gi" ⇒ 1
ALL Record1.Children BEGINSWITH "Kid" ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testOperators
"Farenight 451" MATCHES "(F|g)\\w+\\s\\d{3}" ⇒ 1
"b" MATCHES "[a-c]" ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testCompoundPredicate
Record1.Name BEGINSWITH "J" AND Record1.Age < 40 ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testBeginsWithEndsWithPredicate
objects ["To","Tom","Tomb","Tomboy"]
SELF beginsWith 'To' ⇒ 4
SELF beginsWith 'Tomb' ⇒ 2
SELF endsWith 'boy' ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testNilComparisons
objects [{"title":"A Title","Record1":{"Name":"John","Age":34,"Children":["Kid1","Kid2"]},"Record2":{"Name":"Mary","Age":30,"Children":["Kid1","Girl1"]}}]
Record1.Name == nil ⇒ 0
Record1.Name != nil ⇒ 1
nil == nil ⇒ 1
nil != nil ⇒ 0
nil == Record1.Name ⇒ 0
nil BEGINSWITH nil ⇒ 0
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testPredicateParsing
%K == %@ ← ["Record1.Name","John"] ⇒ 1
%K MATCHES %@ ← ["Record1.Name","John"] ⇒ 1
%K BEGINSWITH %@ ← ["Record1.Name","Jo"] ⇒ 1
Record1.Age BETWEEN {%f,%f} ← [20,40] ⇒ 1
Record1.Children[1] = 'Kid2' ⇒ 1
Record1.Children[ FIRST ] = 'Kid1' ⇒ 1
Record1.Children[LAST] = 'Kid2' ⇒ 1
Record1.Children[SIZE] = 2 ⇒ 1
Record1.Children[count:(Record1.Children) - 1] = 'Kid2' ⇒ 1
TERNARY(Record1.Children[FIRST] BEGINSWITH Record1.Name, 'SAME', 'DIFFERENT') = 'DIFFERENT' ⇒ 1
Record1.$age = 34 ← [{"age":"Age"}] ⇒ 1
sum:(1,1) = 2 ⇒ 1
multiply:by:(5,3) = 15 ⇒ 1
FUNCTION('a/path', 'lastPathComponent') = 'path' ⇒ 1
FUNCTION('a/path', 'substringFromIndex:', 2) = 'path' ⇒ 1
FUNCTION('toto', 'stringByReplacingOccurrencesOfString:withString:', 'o', 'a') == 'tata' ⇒ 1
SUBQUERY(Record1.Children, $x, $x BEGINSWITH $Begining)[SIZE] = 2 ← [{"Begining":"Kid"}] ⇒ 1
TERNARY(Record1.Children[SIZE] = 1, 'Single', Record1.Name) = 'John' ⇒ 1
objects [2]
SELF +1 = 3 ⇒ 1
SELF- 1 = 1 ⇒ 1
SELF / 2 = 1 ⇒ 1
SELF* 2 = 4 ⇒ 1
SELF** 3 = 8 ⇒ 1
objects [{"a":["a"]}]
a UNION {'b'} = {'a','b'} ⇒ 1
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testProxyArrayFiltering, testTruepredicate
objects ["a","b","ac","bc"]
SELF CONTAINS 'a' ⇒ 2
objects [1,2,3]
TRUEPREDICATE ⇒ 3
source cappuccino/cappuccino 45741365 Tests/Foundation/CPPredicateTest.j testEvaluateBooleanConstantValueExpressionWithDifferentObjects
objects [true,false]
self = YES ⇒ 1
self = NO ⇒ 1
objects [0,1,2]
self = YES ⇒ 1
self = NO ⇒ 1
objects ["1","2","true","false","","YES","NO"]
self = YES ⇒ 0
self = NO ⇒ 0
"""#
