// Expectations from the tests of WinObjC (MIT).
// Lines of data are as long as they are.
// swift-format-ignore-file

let winObjCCases = #"""
source microsoft/WinObjC 94f6b5bf tests/unittests/Foundation/NSPredicateTests.m
1<3 ⇒ 1
5 > 2 ⇒ 1
(5 > 2) && (1 < 0) ⇒ 0
!((5 > 2) && (1 < 0) && (1 > 0)) ⇒ 1
objects [{"name":"testAnimal","age":0,"speed":115},{"name":"testAnimal","age":1,"speed":115},{"name":"testAnimal","age":2,"speed":115},{"name":"testAnimal","age":3,"speed":115},{"name":"testAnimal","age":4,"speed":115},{"name":"testAnimal","age":5,"speed":115},{"name":"testAnimal","age":6,"speed":115},{"name":"testAnimal","age":7,"speed":115},{"name":"testAnimal","age":8,"speed":115},{"name":"testAnimal","age":9,"speed":115}]
age == %d ← [5] ⇒ 1
name == %@ ← ["testAnimal"] ⇒ 10
age BETWEEN %@ ← [[0,3]] ⇒ 4
age >= 5 ⇒ 5
%K >= %@ ← ["age",5] ⇒ 5
objects [{"name":"aaa"},{"name":"Abc"},{"name":"adb"},{"name":"bcd"}]
name BEGINSWITH[cd] %@ ← ["a"] ⇒ 3
objects [{"name":"aax"},{"name":"abc"}]
name ENDSWITH[cd] %@ ← ["x"] ⇒ 1
objects [{"name":"aax"},{"name":"ABC"}]
name CONTAINS[c] %@ ← ["bc"] ⇒ 1
objects [{"name":"aax"}]
name CONTAINS[cd] %@ ← ["b"] ⇒ 0
objects [{"name":"test"},{"name":"tesp"}]
name MATCHES %@ ← ["t.*t"] ⇒ 1
objects [{"name":"test1"},{"name":"test2"},{"name":"testp"}]
name MATCHES 't.*t[0-9]' ⇒ 2
objects [{"name":"test.foo"},{"name":"test.foo"},{"name":"hello.foo"},{"name":"atestp.foo"}]
name LIKE %@ ← ["test*.foo"] ⇒ 2
objects [8]
self < 9 ⇒ 1
objects [{"age":5,"speed":-7}]
self.age <= 5  ⇒ 1
self.speed <= -5  ⇒ 1
               self.speed >= -7              ⇒ 1
     NOT((self.speed >= -7) AND (self.age < -15))     ⇒ 1
self.speed <= $SPEED ← [{"SPEED":-5}] ⇒ 1
source microsoft/WinObjC 94f6b5bf tests/unittests/Foundation/NSComparisonPredicateTests.m Complex_Expression
objects [{"name":"Alpha-1","age":20,"speed":115},{"name":"Beta-1","age":101,"speed":120},{"name":"Beta-2","age":120,"speed":121},{"name":"Alpha-4","age":100,"speed":115},{"name":"Beta-5","age":101,"speed":0}]
(NOT (age <= 100) OR name CONTAINS[c] "Alpha") AND speed BETWEEN {0, 120} ⇒ 4
source microsoft/WinObjC 94f6b5bf tests/unittests/Foundation/NSComparisonPredicateTests.m, the operators
9 < 10 ⇒ 5
10 <= 10 ⇒ 5
10 > 9 ⇒ 5
10 >= 10 ⇒ 5
10 == 10 ⇒ 5
10 != 9 ⇒ 5
ANY {11,12,13,14,15,16,17,18,19,9} <= 10 ⇒ 5
ALL {0,1,2,3,4,5,6,7,8,9,10} <= 10 ⇒ 5
ALL {0,1,2,3,4,5,6,7,8,9,10,11} <= 10 ⇒ 0
"""#
