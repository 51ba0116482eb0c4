// Expectations from the tests of Realm Swift (Apache-2.0), except where it differs from Core Data: there no text
// contains an empty text, and nil differs from every object. Lines of data are as long as they are.
// swift-format-ignore-file

let realmCases = #"""
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testTwoColumnComparison
objects [{"bool1":true,"bool2":true,"int1":1,"int2":2,"float1":{"$float":23.0},"float2":{"$float":1.7},"double1":0.0,"double2":5.55,"string1":"a","string2":"a","decimal1":{"$decimal":"1"},"decimal2":{"$decimal":"2"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000001"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000001"}},{"bool1":true,"bool2":false,"int1":1,"int2":3,"float1":{"$float":-5.3},"float2":{"$float":4.21},"double1":1.0,"double2":4.44,"string1":"a","string2":"A","decimal1":{"$decimal":"1"},"decimal2":{"$decimal":"3"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000001"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000002"}},{"bool1":false,"bool2":false,"int1":2,"int2":2,"float1":{"$float":1.0},"float2":{"$float":3.55},"double1":99.9,"double2":6.66,"string1":"a","string2":"ab","decimal1":{"$decimal":"2"},"decimal2":{"$decimal":"2"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000002"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000002"}},{"bool1":false,"bool2":true,"int1":3,"int2":6,"float1":{"$float":4.21},"float2":{"$float":1.0},"double1":1.0,"double2":7.77,"string1":"a","string2":"AB","decimal1":{"$decimal":"3"},"decimal2":{"$decimal":"6"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000002"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000001"}},{"bool1":true,"bool2":true,"int1":4,"int2":5,"float1":{"$float":23.0},"float2":{"$float":23.0},"double1":7.4,"double2":8.88,"string1":"a","string2":"b","decimal1":{"$decimal":"4"},"decimal2":{"$decimal":"5"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000001"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000001"}},{"bool1":true,"bool2":false,"int1":15,"int2":8,"float1":{"$float":1.0},"float2":{"$float":66.0},"double1":1.01,"double2":9.99,"string1":"a","string2":"ba","decimal1":{"$decimal":"15"},"decimal2":{"$decimal":"8"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000001"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000002"}},{"bool1":false,"bool2":true,"int1":15,"int2":15,"float1":{"$float":1.0},"float2":{"$float":66.0},"double1":1.01,"double2":9.99,"string1":"a","string2":"BA","decimal1":{"$decimal":"15"},"decimal2":{"$decimal":"15"},"objectId1":{"$uuid":"00000000-0000-0000-0000-000000000002"},"objectId2":{"$uuid":"00000000-0000-0000-0000-000000000001"}}]
bool1 == bool1 ⇒ 7
bool1 == bool2 ⇒ 3
bool1 != bool2 ⇒ 4
int1 == int1 ⇒ 7
int1 == int2 ⇒ 2
int1 != int2 ⇒ 5
int1 > int2 ⇒ 1
int1 < int2 ⇒ 4
int1 >= int2 ⇒ 3
int1 <= int2 ⇒ 6
float1 == float1 ⇒ 7
float1 == float2 ⇒ 1
float1 != float2 ⇒ 6
float1 > float2 ⇒ 2
float1 < float2 ⇒ 4
float1 >= float2 ⇒ 3
float1 <= float2 ⇒ 5
double1 == double1 ⇒ 7
double1 == double2 ⇒ 0
double1 != double2 ⇒ 7
double1 > double2 ⇒ 1
double1 < double2 ⇒ 6
double1 >= double2 ⇒ 1
double1 <= double2 ⇒ 6
string1 == string1 ⇒ 7
string1 == string2 ⇒ 1
string1 != string2 ⇒ 6
string1 CONTAINS string1 ⇒ 7
string1 CONTAINS string2 ⇒ 1
string2 CONTAINS string1 ⇒ 3
string1 BEGINSWITH string1 ⇒ 7
string1 BEGINSWITH string2 ⇒ 1
string2 BEGINSWITH string1 ⇒ 2
string1 ENDSWITH string1 ⇒ 7
string1 ENDSWITH string2 ⇒ 1
string2 ENDSWITH string1 ⇒ 2
string1 LIKE string1 ⇒ 7
string1 LIKE string2 ⇒ 1
string2 LIKE string1 ⇒ 1
string1 ==[c] string1 ⇒ 7
string1 ==[c] string2 ⇒ 2
string1 !=[c] string2 ⇒ 5
string1 CONTAINS[c] string1 ⇒ 7
string1 CONTAINS[c] string2 ⇒ 2
string2 CONTAINS[c] string1 ⇒ 6
string1 BEGINSWITH[c] string1 ⇒ 7
string1 BEGINSWITH[c] string2 ⇒ 2
string2 BEGINSWITH[c] string1 ⇒ 4
string1 ENDSWITH[c] string1 ⇒ 7
string1 ENDSWITH[c] string2 ⇒ 2
string2 ENDSWITH[c] string1 ⇒ 4
string1 LIKE[c] string1 ⇒ 7
string1 LIKE[c] string2 ⇒ 2
string2 LIKE[c] string1 ⇒ 2
decimal1 == decimal1 ⇒ 7
decimal1 == decimal2 ⇒ 2
decimal1 != decimal2 ⇒ 5
decimal1 > decimal2 ⇒ 1
decimal1 < decimal2 ⇒ 4
decimal1 >= decimal2 ⇒ 3
decimal1 <= decimal2 ⇒ 6
objectId1 == objectId1 ⇒ 7
objectId1 == objectId2 ⇒ 3
objectId1 != objectId2 ⇒ 4
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testComparisonsWithKeyPathOnRHS
TRUE == bool1 ⇒ 4
TRUE != bool2 ⇒ 3
1 == int1 ⇒ 2
2 != int2 ⇒ 5
2 > int1 ⇒ 2
2 < int1 ⇒ 4
2 >= int1 ⇒ 3
2 <= int1 ⇒ 5
1.0 == float1 ⇒ 3
1.0 != float2 ⇒ 6
1.0 > float1 ⇒ 1
1.0 < float2 ⇒ 6
1.0 >= float1 ⇒ 4
1.0 <= float2 ⇒ 7
1.0 == double1 ⇒ 2
1.0 != double1 ⇒ 5
5.0 > double2 ⇒ 1
5.0 < double2 ⇒ 6
5.55 >= double2 ⇒ 2
5.55 <= double2 ⇒ 6
'a' == string2 ⇒ 1
'a' != string2 ⇒ 6
1 == decimal1 ⇒ 2
2 != decimal2 ⇒ 5
2 > decimal1 ⇒ 2
2 < decimal1 ⇒ 4
2 >= decimal1 ⇒ 3
2 <= decimal1 ⇒ 5
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkQueryString (the third and later stages)
objects [{"name":"Tim","dog":{"dogName":"Harvie"}},{"name":"Joe","dog":{"dogName":"Harvie"}},{"name":"Jim","dog":{"dogName":"Fido"}}]
dog.dogName  = 'Harvie' ⇒ 2
dog.dogName != 'Harvie' ⇒ 1
dog.dogName  = 'eivraH' ⇒ 0
dog.dogName  = 'Fido' ⇒ 1
dog.dogName IN {'Fido', 'Harvie'} ⇒ 3
dog.dogName IN {'Fido', 'eivraH'} ⇒ 1
dog.dogName = 'Harvie' and name = 'Tim' ⇒ 1
dog.dogName = 'Harvie' and name = 'Jim' ⇒ 0
objects [{"name":"Tim","dog":{"dogName":"Harvie"}},{"name":"Joe","dog":{"dogName":"Harvie"}},{"name":"Jim","dog":{"dogName":"Fido"}},{"name":"Rex","dog":{"dogName":"Rex"}}]
dog.dogName = name ⇒ 1
name = dog.dogName ⇒ 1
dog.dogName != name ⇒ 3
name != dog.dogName ⇒ 3
dog.dogName == dog.dogName ⇒ 4
dog.dogName != dog.dogName ⇒ 0
dog.dogName > 'Harvie' ⇒ 1
dog.dogName >= 'Harvie' ⇒ 3
dog.dogName < 'Harvie' ⇒ 1
dog.dogName <= 'Harvie' ⇒ 3
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkQueryInt
objects [{"dog":{"age":5}}]
dog.age  = 5 ⇒ 1
dog.age != 5 ⇒ 0
dog.age  = 10 ⇒ 0
dog.age  = 8 ⇒ 0
dog.age IN {5, 8} ⇒ 1
dog.age IN {8, 10} ⇒ 0
dog.age BETWEEN {0, 10} ⇒ 1
dog.age BETWEEN {0, 7} ⇒ 1
objects [{"dog":{"age":5}},{"dog":{"age":5}},{"dog":{"age":8}}]
dog.age  = 5 ⇒ 2
dog.age != 5 ⇒ 1
dog.age  = 10 ⇒ 0
dog.age  = 8 ⇒ 1
dog.age IN {5, 8} ⇒ 3
dog.age IN {8, 10} ⇒ 1
dog.age BETWEEN {0, 10} ⇒ 3
dog.age BETWEEN {0, 7} ⇒ 2
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkQueryAllTypes
objects [{"allTypesCol":{"boolCol":true,"intCol":1,"floatCol":{"$float":1.1},"doubleCol":1.11,"longCol":2147483648,"dateCol":{"$date":5}}}]
allTypesCol.boolCol = YES ⇒ 1
allTypesCol.boolCol = NO ⇒ 0
allTypesCol.intCol = 1 ⇒ 1
allTypesCol.intCol != 1 ⇒ 0
allTypesCol.intCol > 0 ⇒ 1
allTypesCol.intCol > 1 ⇒ 0
allTypesCol.floatCol = %f ← [1.1] ⇒ 1
allTypesCol.floatCol <= %f ← [1.1] ⇒ 1
allTypesCol.floatCol < %f ← [1.1] ⇒ 0
allTypesCol.doubleCol = 1.11 ⇒ 1
allTypesCol.doubleCol >= 1.11 ⇒ 1
allTypesCol.doubleCol > 1.11 ⇒ 0
allTypesCol.longCol = 2147483648 ⇒ 1
allTypesCol.longCol != 2147483648 ⇒ 0
allTypesCol.dateCol = %@ ← [{"$date":5}] ⇒ 1
allTypesCol.dateCol != %@ ← [{"$date":5}] ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkQueryMany, first stage
objects [{"array":[{"stringCol":"0"},{"stringCol":"1"},{"stringCol":"2"},{"stringCol":"3"},{"stringCol":"4"},{"stringCol":"5"},{"stringCol":"6"},{"stringCol":"7"},{"stringCol":"8"},{"stringCol":"9"}],"intArray":[{"intCol":0},{"intCol":1},{"intCol":2},{"intCol":3},{"intCol":4},{"intCol":5},{"intCol":6},{"intCol":7},{"intCol":8},{"intCol":9}]}]
ANY intArray.intCol > 10 ⇒ 0
ANY intArray.intCol > 5 ⇒ 1
ANY array.stringCol = '1' ⇒ 1
NONE intArray.intCol == 5 ⇒ 0
NONE intArray.intCol > 10 ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkQueryMany, second stage
objects [{"array":[{"stringCol":"0"},{"stringCol":"1"},{"stringCol":"2"},{"stringCol":"3"},{"stringCol":"4"},{"stringCol":"5"},{"stringCol":"6"},{"stringCol":"7"},{"stringCol":"8"},{"stringCol":"9"}],"intArray":[{"intCol":0},{"intCol":1},{"intCol":2},{"intCol":3},{"intCol":4},{"intCol":5},{"intCol":6},{"intCol":7},{"intCol":8},{"intCol":9}]},{"array":[{"stringCol":"0"},{"stringCol":"1"},{"stringCol":"2"},{"stringCol":"3"}],"intArray":[{"intCol":0},{"intCol":1},{"intCol":2},{"intCol":3}]}]
ANY intArray.intCol > 10 ⇒ 0
ANY intArray.intCol > 5 ⇒ 1
ANY intArray.intCol > 2 ⇒ 2
NONE intArray.intCol == 5 ⇒ 1
NONE intArray.intCol > 10 ⇒ 2
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testArrayMultiLevelLinkQuery
objects [{"circles":[{"data":"0","next":null},{"data":"1","next":{"data":"0","next":null}},{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}},{"data":"3","next":{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}}},{"data":"4","next":{"data":"3","next":{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}}}}]}]
ANY circles.data = '4' ⇒ 1
ANY circles.next.data = '4' ⇒ 0
ANY circles.next.data = '3' ⇒ 1
ANY circles.data = '3' ⇒ 1
NONE circles.next.data = '4' ⇒ 1
ANY circles.next.next.data = '3' ⇒ 0
ANY circles.next.next.data = '2' ⇒ 1
ANY circles.next.data = '2' ⇒ 1
ANY circles.data = '2' ⇒ 1
NONE circles.next.next.data = '3' ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testMultiLevelLinkQuery
objects [{"data":"0","next":null},{"data":"1","next":{"data":"0","next":null}},{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}},{"data":"3","next":{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}}},{"data":"4","next":{"data":"3","next":{"data":"2","next":{"data":"1","next":{"data":"0","next":null}}}}}]
data = '4' ⇒ 1
next.data = '3' ⇒ 1
next.next.data = '2' ⇒ 1
next.next.next.data = '1' ⇒ 1
next.next.next.next.data = '0' ⇒ 1
next.next.next.data = '0' ⇒ 1
next.next.data = '0' ⇒ 1
next = nil ⇒ 1
next != nil AND next.next = nil ⇒ 1
next.next != nil AND next.next.next = nil ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testQueryWithObjects
objects [{"objectCol":{"$id":"s0"}},{"objectCol":{"$id":"s1"}},{"objectCol":{"$ref":"s0"}},{"objectCol":{"x":1}},{"objectCol":null}]
objectCol = %@ ← [{"$ref":"s0"}] ⇒ 2
objectCol = %@ ← [{"$ref":"s1"}] ⇒ 1
objectCol = nil ⇒ 1
objectCol != nil ⇒ 4
objects [{"array":[{"$id":"o0"},{"$id":"o1"}]},{"array":[{"$ref":"o1"}]},{"array":[{"$ref":"o0"},{"x":1},{"x":2}]},{"array":[{"x":4}]}]
ANY array = %@ ← [{"$ref":"o0"}] ⇒ 2
ANY array != %@ ← [{"$ref":"o1"}] ⇒ 3
NONE array = %@ ← [{"$ref":"o0"}] ⇒ 2
NONE array != %@ ← [{"$ref":"o1"}] ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testCompoundOrQuery, testCompoundAndQuery
objects [{"name":"Tim","age":29},{"name":"Ari","age":33}]
name == 'Ari' or age < 30 ⇒ 2
name == 'Ari' or age > 40 ⇒ 1
name == 'Ari' and age > 30 ⇒ 1
name == 'Ari' and age > 40 ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testArrayIn
objects [{"array":[{"$id":"v","stringCol":"value"}],"other":{"$id":"w"}}]
ANY array.stringCol IN %@ ← [["missing"]] ⇒ 0
ANY array.stringCol IN %@ ← [["value"]] ⇒ 1
NONE array.stringCol IN %@ ← [["missing"]] ⇒ 1
NONE array.stringCol IN %@ ← [["value"]] ⇒ 0
ANY array IN %@ ← [[]] ⇒ 0
ANY array IN %@ ← [[{"$ref":"v"}]] ⇒ 1
NONE array IN %@ ← [[]] ⇒ 1
NONE array IN %@ ← [[{"$ref":"v"}]] ⇒ 0
%@ IN array ← [{"$ref":"v"}] ⇒ 1
%@ IN array ← [{"$ref":"w"}] ⇒ 0
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testLinkViewQuery
objects [{"name":"John","age":30,"hired":false},{"name":"Joe","age":40,"hired":true},{"name":"Jill","age":50,"hired":true}]
hired = NO ⇒ 1
hired = YES ⇒ 2
hired = YES AND age = 40 ⇒ 1
hired = YES AND age = 30 ⇒ 0
hired = YES OR age = 30 ⇒ 3
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testSubqueries
objects [{"employees":[{"name":"John","age":30,"hired":false},{"name":"Jill","age":40,"hired":true},{"name":"Joe","age":40,"hired":true}]},{"employees":[{"name":"Bill","age":35,"hired":true},{"name":"Don","age":45,"hired":false},{"name":"Tim","age":60,"hired":false}]}]
SUBQUERY(employees, $employee, $employee.age > 30 AND $employee.hired = FALSE).@count > 0 ⇒ 1
SUBQUERY(employees, $employee, $employee.age < 30 AND $employee.hired = TRUE).@count == 0 ⇒ 2
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testCountOperator
objects [{"number":1,"array":[{"intCol":456}]},{"number":2,"array":[{"intCol":1},{"intCol":2},{"intCol":3}]},{"number":0,"array":[]}]
array.@count > 0 ⇒ 2
array.@count == 3 ⇒ 1
array.@count < 1 ⇒ 1
0 < array.@count ⇒ 2
3 == array.@count ⇒ 1
1 >  array.@count ⇒ 1
array.@count == number ⇒ 2
array.@count > number ⇒ 1
number < array.@count ⇒ 1
source realm/realm-swift c22f9303 Realm/Tests/QueryTests.m testAggregateCollectionOperators
objects [{"number":1111,"array":[{"intCol":1234},{"intCol":2},{"intCol":-12345}]},{"number":2222,"array":[{"intCol":100}]},{"number":3333,"array":[]}]
array.@min.intCol == -12345 ⇒ 1
array.@min.intCol == 100 ⇒ 1
array.@min.intCol < 1000 ⇒ 2
array.@min.intCol > -1000 ⇒ 1
array.@max.intCol == 1234 ⇒ 1
array.@max.intCol == 100 ⇒ 1
array.@max.intCol > -1000 ⇒ 2
array.@max.intCol > 1000 ⇒ 1
array.@sum.intCol == 100 ⇒ 1
array.@sum.intCol == -11109 ⇒ 1
array.@sum.intCol == 0 ⇒ 1
array.@sum.intCol > -50 ⇒ 2
array.@sum.intCol < 50 ⇒ 2
array.@avg.intCol == 100 ⇒ 1
array.@avg.intCol == -3703 ⇒ 1
array.@avg.intCol == 0 ⇒ 0
array.@avg.intCol < -50 ⇒ 1
array.@avg.intCol > 50 ⇒ 1
array.@min.intCol < number ⇒ 2
number > array.@min.intCol ⇒ 2
array.@max.intCol < number ⇒ 1
number > array.@max.intCol ⇒ 1
array.@avg.intCol < number ⇒ 2
number > array.@avg.intCol ⇒ 2
"""#
