// Expectations about lists, bounds and nil text, and from the evaluation tests of CoreModel, which compares them with
// NSPredicate.
// Lines of data are as long as they are.
// swift-format-ignore-file

let listCases = #"""
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testBasicQuery, testConstantPredicates
objects [{"name":"Fiel","age":27},{"name":"Ari","age":33},{"name":"Tim","age":29}]
age > 28 ⇒ 2
TRUEPREDICATE ⇒ 3
FALSEPREDICATE ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testQueryBetween
objects [{"i":1,"f":{"$float":1.1},"d":1.11,"t":{"$date":1},"l":2147483648,"c":{"$decimal":"1"}},{"i":2,"f":{"$float":2.2},"d":2.22,"t":{"$date":2},"l":4294967296,"c":{"$decimal":"2"}},{"i":3,"f":{"$float":3.3},"d":3.33,"t":{"$date":3},"l":6442450944,"c":{"$decimal":"3"}},{"i":4,"f":{"$float":4.4},"d":4.44,"t":{"$date":4},"l":8589934592,"c":{"$decimal":"4"}}]
i BETWEEN %@ ← [[0,5]] ⇒ 4
i BETWEEN %@ ← [[2,3]] ⇒ 2
i BETWEEN {2, 3} ⇒ 2
f BETWEEN %@ ← [[1.0,5.0]] ⇒ 4
f BETWEEN %@ ← [[2.0,4.0]] ⇒ 2
f BETWEEN {2, 4} ⇒ 2
d BETWEEN %@ ← [[1.0,5.0]] ⇒ 4
d BETWEEN %@ ← [[2.0,4.0]] ⇒ 2
d BETWEEN {3.0, 7.0} ⇒ 2
t BETWEEN %@ ← [[{"$date":2},{"$date":3}]] ⇒ 2
l BETWEEN %@ ← [[5000000000,7000000000]] ⇒ 1
l BETWEEN {5000000000, 7000000000} ⇒ 1
c BETWEEN %@ ← [[0,5]] ⇒ 4
c BETWEEN {0, 5} ⇒ 4
c BETWEEN %@ ← [[{"$decimal":"0"},{"$decimal":"3"}]] ⇒ 3
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testQueryBetween, through links
objects [{"a":[{"i":1,"f":{"$float":1.1},"d":1.11,"t":{"$date":1},"l":2147483648,"c":{"$decimal":"1"}},{"i":3,"f":{"$float":3.3},"d":3.33,"t":{"$date":3},"l":6442450944,"c":{"$decimal":"3"}}]},{"a":[{"i":2,"f":{"$float":2.2},"d":2.22,"t":{"$date":2},"l":4294967296,"c":{"$decimal":"2"}},{"i":4,"f":{"$float":4.4},"d":4.44,"t":{"$date":4},"l":8589934592,"c":{"$decimal":"4"}}]}]
ANY a.i BETWEEN %@ ← [[4,5]] ⇒ 1
ANY a.f BETWEEN %@ ← [[3.1,3.2]] ⇒ 0
ANY a.d BETWEEN %@ ← [[3.1,3.2]] ⇒ 0
ANY a.t BETWEEN %@ ← [[{"$date":2},{"$date":3}]] ⇒ 2
ANY a.l BETWEEN %@ ← [[5000000000,7000000000]] ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testFloatQuery
objects [{"f":{"$float":1.7}}]
f > 1 ⇒ 1
f > %d ← [1] ⇒ 1
f = 1.7 ⇒ 1
f = %f ← [1.7] ⇒ 1
f > 1.0 ⇒ 1
f >= 1.0 ⇒ 1
f < 1.0 ⇒ 0
f <= 1.0 ⇒ 0
f = %e ← [1.7] ⇒ 1
f == %f ← [3.4028234663852886e+38] ⇒ 0
f BETWEEN %@ ← [[1.0,2.0]] ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testINPredicate
objects [{"b":true,"i":1,"f":{"$float":1.1},"d":1.11,"s":"a","x":{"$data":"a"},"t":{"$date":1},"l":2147483648,"o":{"s":"abc"},"c":{"$decimal":"1"},"u":{"$uuid":"85d4fbee-6ec6-47df-bfa1-615931903d7e"}}]
b IN {NO} ⇒ 0
NOT b IN {NO} ⇒ 1
b IN {YES} ⇒ 1
NOT b IN {YES} ⇒ 0
b IN {NO, YES} ⇒ 1
NOT b IN {NO, YES} ⇒ 0
i IN {0, 2, 3} ⇒ 0
NOT i IN {0, 2, 3} ⇒ 1
i IN {1} ⇒ 1
NOT i IN {1} ⇒ 0
i IN {1, 2} ⇒ 1
NOT i IN {1, 2} ⇒ 0
f IN {0, 2, 3} ⇒ 0
NOT f IN {0, 2, 3} ⇒ 1
f IN {1.1} ⇒ 1
NOT f IN {1.1} ⇒ 0
f IN {1.1, 2.2} ⇒ 1
NOT f IN {1.1, 2.2} ⇒ 0
d IN {0, 2, 3} ⇒ 0
NOT d IN {0, 2, 3} ⇒ 1
d IN {1.11} ⇒ 1
NOT d IN {1.11} ⇒ 0
d IN {1.11, 2.22} ⇒ 1
NOT d IN {1.11, 2.22} ⇒ 0
s IN {'a'} ⇒ 1
NOT s IN {'a'} ⇒ 0
s IN {'b'} ⇒ 0
NOT s IN {'b'} ⇒ 1
s IN {'A'} ⇒ 0
NOT s IN {'A'} ⇒ 1
s IN[c] {'a'} ⇒ 1
NOT s IN[c] {'a'} ⇒ 0
s IN[c] {'A'} ⇒ 1
NOT s IN[c] {'A'} ⇒ 0
l IN {0, 2, 3} ⇒ 0
NOT l IN {0, 2, 3} ⇒ 1
l IN {2147483648} ⇒ 1
NOT l IN {2147483648} ⇒ 0
l IN {100, 2147483648} ⇒ 1
NOT l IN {100, 2147483648} ⇒ 0
o.s IN {'abc'} ⇒ 1
NOT o.s IN {'abc'} ⇒ 0
o.s IN {'def'} ⇒ 0
NOT o.s IN {'def'} ⇒ 1
o.s IN {'ABC'} ⇒ 0
NOT o.s IN {'ABC'} ⇒ 1
o.s IN[c] {'abc'} ⇒ 1
NOT o.s IN[c] {'abc'} ⇒ 0
o.s IN[c] {'ABC'} ⇒ 1
NOT o.s IN[c] {'ABC'} ⇒ 0
c IN {0, 2, 3} ⇒ 0
NOT c IN {0, 2, 3} ⇒ 1
c IN {1} ⇒ 1
NOT c IN {1} ⇒ 0
c IN {1, 2} ⇒ 1
NOT c IN {1, 2} ⇒ 0
x IN %@ ← [[{"$data":""}]] ⇒ 0
NOT x IN %@ ← [[{"$data":""}]] ⇒ 1
x IN %@ ← [[{"$data":"a"}]] ⇒ 1
NOT x IN %@ ← [[{"$data":"a"}]] ⇒ 0
x IN %@ ← [[{"$data":"a"},{"$data":"b"}]] ⇒ 1
NOT x IN %@ ← [[{"$data":"a"},{"$data":"b"}]] ⇒ 0
t IN %@ ← [[{"$date":0}]] ⇒ 0
NOT t IN %@ ← [[{"$date":0}]] ⇒ 1
t IN %@ ← [[{"$date":1}]] ⇒ 1
NOT t IN %@ ← [[{"$date":1}]] ⇒ 0
t IN %@ ← [[{"$date":0},{"$date":1}]] ⇒ 1
NOT t IN %@ ← [[{"$date":0},{"$date":1}]] ⇒ 0
l IN %@ ← [[2147483648,2]] ⇒ 1
NOT l IN %@ ← [[2147483648,2]] ⇒ 0
s IN[c] %@ ← [["A"]] ⇒ 1
NOT s IN[c] %@ ← [["A"]] ⇒ 0
s IN %@ ← [["A"]] ⇒ 0
NOT s IN %@ ← [["A"]] ⇒ 1
b IN %@ ← [[false]] ⇒ 0
NOT b IN %@ ← [[false]] ⇒ 1
f IN %@ ← [[1.1,2]] ⇒ 1
NOT f IN %@ ← [[1.1,2]] ⇒ 0
c IN %@ ← [[0,2,3]] ⇒ 0
NOT c IN %@ ← [[0,2,3]] ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testQueryOnNullableStringColumn
objects [{"s":"a"},{"s":null},{"s":"b"},{"s":null},{"s":""}]
s = NULL ⇒ 2
s != NULL ⇒ 3
s IN {NULL, 'a'} ⇒ 3
s CONTAINS 'a' ⇒ 1
s BEGINSWITH 'a' ⇒ 1
s ENDSWITH 'a' ⇒ 1
s LIKE 'a' ⇒ 1
s CONTAINS 'z' ⇒ 0
s LIKE 'z' ⇒ 0
s = '' ⇒ 1
s LIKE '*' ⇒ 3
s LIKE[c] '*' ⇒ 3
s CONTAINS NULL ⇒ 0
s CONTAINS[c] NULL ⇒ 0
s CONTAINS[d] NULL ⇒ 0
s CONTAINS[cd] NULL ⇒ 0
s CONTAINS %@ ← ["\u0000"] ⇒ 0
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/PredicateEvaluationTests.swift
objects [{"name":"Alice","age":30,"score":4.5,"verified":true,"nickname":null,"boss":"100","events":["10","20"]}]
name == 'Alice' ⇒ 1
name == 'Bob' ⇒ 0
name != 'Bob' ⇒ 1
age == 30 ⇒ 1
verified == true ⇒ 1
name ==[c] 'ALICE' ⇒ 1
name == 'ALICE' ⇒ 0
nickname == nil ⇒ 1
missingKey == nil ⇒ 1
name == nil ⇒ 0
age > 21 ⇒ 1
age >= 30 ⇒ 1
age < 31 ⇒ 1
age <= 30 ⇒ 1
age > 30 ⇒ 0
score > 4.0 ⇒ 1
name < 'Bob' ⇒ 1
verified > 'Alice' ⇒ 0
name BEGINSWITH 'Al' ⇒ 1
name ENDSWITH 'ice' ⇒ 1
name CONTAINS 'lic' ⇒ 1
name BEGINSWITH 'Bo' ⇒ 0
name BEGINSWITH[c] 'al' ⇒ 1
name IN 'Alice in Wonderland' ⇒ 1
name LIKE 'A*' ⇒ 1
name LIKE '?lice' ⇒ 1
name LIKE '*ice' ⇒ 1
name LIKE 'A*e' ⇒ 1
name LIKE 'B*' ⇒ 0
name LIKE 'Alic?e' ⇒ 0
name LIKE[c] 'a*' ⇒ 1
name MATCHES 'A[a-z]+e' ⇒ 1
name MATCHES '^B.*' ⇒ 0
boss == '100' ⇒ 1
boss == '999' ⇒ 0
events CONTAINS '10' ⇒ 1
events CONTAINS '30' ⇒ 0
'10' IN events ⇒ 1
ANY events == '10' ⇒ 1
ANY events == '30' ⇒ 0
ALL events IN {'10', '20', '30'} ⇒ 1
ALL events == '10' ⇒ 0
name == 'Alice' AND age >= 18 ⇒ 1
name == 'Alice' AND name == 'Bob' ⇒ 0
name == 'Bob' OR age >= 18 ⇒ 1
NOT name == 'Bob' ⇒ 1
NOT name == 'Alice' ⇒ 0
uppercase:(name) == 'ALICE' ⇒ 1
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/PredicateEvaluationTests.swift wildcardMatch
objects ["","abc","abbbc","abd"]
SELF LIKE '' ⇒ 1
SELF LIKE '*' ⇒ 4
SELF LIKE '?' ⇒ 0
SELF LIKE 'a*c' ⇒ 2
SELF LIKE 'a**c' ⇒ 2
SELF LIKE '???' ⇒ 2
SELF LIKE '??' ⇒ 0
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/ArithmeticExpressionTests.swift
objects [{"age":30,"height":1.7,"name":"Alice"}]
age + 5 == 35 ⇒ 1
age - 12 < 19 ⇒ 1
age * 2 == 60 ⇒ 1
modulus:by:(age, 7) == 2 ⇒ 1
age / 4 == 7 ⇒ 1
age / 4 == 7.5 ⇒ 0
height / 2 == 0.85 ⇒ 1
height * 100 > 169 ⇒ 1
(age + 2) * 2 == 64 ⇒ 1
age / 0 == 0 ⇒ 0
age / 0 >= 0 ⇒ 0
modulus:by:(age, 0) == 0 ⇒ 0
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/ArithmeticExpressionTests.swift integerDivisionTruncates
objects [{"v":7,"m":-7}]
v / 2 == 3 ⇒ 1
m / 2 == -3 ⇒ 1
v / -2 == -3 ⇒ 1
m / -2 == 3 ⇒ 1
1 / 2 == 0 ⇒ 1
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/KeyPathTraversalTests.swift
objects [{"name":"Alice","events":[{"name":"WWDC","attendance":5000},{"name":"Other","attendance":10}],"favorite":{"name":"WWDC"}},{"name":"Bob","events":[{"name":"Other","attendance":10}],"favorite":{"name":"Other"}},{"name":"Carol","events":[],"favorite":null}]
ANY events.name == 'WWDC' ⇒ 1
ALL events.name == 'Other' ⇒ 2
favorite.name == 'WWDC' ⇒ 1
ANY events.attendance > 1000 ⇒ 1
source PureSwift/CoreModel e43de80 Tests/CoreModelTests/CompositeEvaluationTests.swift
objects [{"name":"north","location":{"$composite":{"latitude":40.7,"longitude":-74.0}},"hours":{"$composite":{"start":9,"end":17}}},{"name":"south","location":{"$composite":{"latitude":25.8,"longitude":-80.2}},"hours":{"$composite":{"start":7,"end":15}}}]
location.latitude > 30 ⇒ 1
location.longitude < -70 ⇒ 2
hours.start == 9 ⇒ 1
location == {: "latitude": 40.7, "longitude": -74.0} ⇒ 1
location.altitude > 0 ⇒ 0
location.altitude == nil ⇒ 2
"""#
