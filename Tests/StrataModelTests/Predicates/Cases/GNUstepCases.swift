// Expectations from the tests of GNUstep Base.
// Lines of data are as long as they are.
// swift-format-ignore-file

let gnustepCases = #"""
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m testContains
objects [{"title":"A Title","Record1":{"Name":"John","Age":34,"Children":["Kid1","Kid2"]},"Record2":{"Name":"Mary","Age":30,"Children":["Kid1","Girl1"]}}]
%@ CONTAINS %@ ← ["AABBBAA","BBB"] ⇒ 1
%@ IN %@ ← ["BBB","AABBBAA"] ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m testString
%K == %@ ← ["Record1.Name","John"] ⇒ 1
%K MATCHES[c] %@ ← ["Record1.Name","john"] ⇒ 1
%K BEGINSWITH %@ ← ["Record1.Name","Jo"] ⇒ 1
(%K == %@) AND (%K == %@) ← ["Record1.Name","John","Record2.Name","Mary"] ⇒ 1
objects ["a","aa","aaa","aaaa"]
self beginswith 'aaa' ⇒ 2
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m testInteger
objects [{"title":"A Title","Record1":{"Name":"John","Age":34,"Children":["Kid1","Kid2"]},"Record2":{"Name":"Mary","Age":30,"Children":["Kid1","Girl1"]}}]
%K == %d ← ["Record1.Age",34] ⇒ 1
%K = %@ ← ["Record1.Age",34] ⇒ 1
%K == %@ ← ["Record1.Age",34] ⇒ 1
%K < %d ← ["Record1.Age",40] ⇒ 1
%K < %@ ← ["Record1.Age",40] ⇒ 1
%K <= %@ ← ["Record1.Age",40] ⇒ 1
%K <= %@ ← ["Record1.Age",34] ⇒ 1
%K > %@ ← ["Record1.Age",20] ⇒ 1
%K >= %@ ← ["Record1.Age",34] ⇒ 1
%K >= %@ ← ["Record1.Age",20] ⇒ 1
%K != %@ ← ["Record1.Age",20] ⇒ 1
%K <> %@ ← ["Record1.Age",20] ⇒ 1
%K BETWEEN %@ ← ["Record1.Age",[20,40]] ⇒ 1
(%K == %d) OR (%K == %d) ← ["Record1.Age",34,"Record2.Age",34] ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m testFloat, testAttregate
%K < %f ← ["Record1.Age",40.5] ⇒ 1
%f > %K ← [40.5,"Record1.Age"] ⇒ 1
%@ IN %K ← ["Kid1","Record1.Children"] ⇒ 1
Any %K == %@ ← ["Record2.Children","Girl1"] ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m testArray
objects [[1,2,0]]
SELF[FIRST] = 1 ⇒ 1
SELF[LAST] = 0 ⇒ 1
SELF[SIZE] = 3 ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/basic.m main
objects ["Do","Re","Mi","Fa","So","La"]
SELF == 'Do' ⇒ 1
SELF == '%@' ⇒ 0
objects ["aaa"]
SELF == 'aaa' ⇒ 1
objects ["a","b","c","d"]
SELF BETWEEN {%@, %@} ← ["b","c"] ⇒ 2
objects [1,2,3]
SELF BETWEEN {%d, %d} ← [2,3] ⇒ 2
objects [{"$date":0},{"$date":100},{"$date":200},{"$date":300}]
SELF BETWEEN {%@, %@} ← [{"$date":100},{"$date":200}] ⇒ 2
objects [[{"a":1},{"a":2}]]
sum(a) == 3 ⇒ 1
objects ["yes","no"]
self IN %@ ← [["yes"]] ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/compound.m
objects [{"name":"Alice","age":30}]
TRUEPREDICATE ⇒ 1
FALSEPREDICATE ⇒ 0
NOT (name == 'Bob') ⇒ 1
NOT (name == 'Alice') ⇒ 0
name ENDSWITH 'ce' ⇒ 1
name ENDSWITH 'xy' ⇒ 0
name == 'Alice' AND age == 30 ⇒ 1
name == 'Alice' AND age == 99 ⇒ 0
name == 'Alice' OR age == 99 ⇒ 1
NOT age == 99 ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/contains.m
objects [{"name":"xyz","list":["a","b"]}]
name CONTAINS 'y' ⇒ 1
name CONTAINS 'q' ⇒ 0
name CONTAINS[c] 'Y' ⇒ 1
name CONTAINS 'Y' ⇒ 0
list CONTAINS 'a' ⇒ 1
list CONTAINS 'z' ⇒ 0
name IN 'wxyz' ⇒ 1
'a' IN list ⇒ 1
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/formatOperators.m
%@ > %@ ← [1,1] ⇒ 0
source gnustep/libs-base 195782d1 Tests/base/NSPredicate/nsnull.m
objects [{"key":"value1"},{"key":"value2"},null]
key == %@ ← ["value2"] ⇒ 1
key == %@ ← ["nonexistent"] ⇒ 0
anotherKey == %@ ← ["value1"] ⇒ 0
source gnustep/libs-base da7c651b Tests/base/NSPredicate/arithmeticFunctionNames.m
objects [{"n":[1,2,3]}]
sum:(n) == 6.0 ⇒ 1
sum(n) == 6 ⇒ 1
average:(n) == 2.0 ⇒ 1
count:(n) == 3 ⇒ 1
max:(n) == 3 ⇒ 1
min:(n) == 1 ⇒ 1
nosuchfunction:(n) == 1 ⇒ refused
"""#
