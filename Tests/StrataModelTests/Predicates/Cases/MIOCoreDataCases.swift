// Expectations from the tests of MIOCoreData.
// Lines of data are as long as they are.
// swift-format-ignore-file

let mioCoreDataCases = #"""
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testBeginsWithAndEndsWith
objects [{"name":"prefix-match"},{"name":"match-suffix"},{"name":"neither"}]
name BEGINSWITH 'prefix' ⇒ 1
name ENDSWITH 'suffix' ⇒ 1
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testCaseAndDiacriticInsensitiveOptions
objects [{"name":"Café con Leche"},{"name":"tea"}]
name CONTAINS[c] 'café' ⇒ 1
name CONTAINS[cd] 'CAFE' ⇒ 1
name ==[c] 'TEA' ⇒ 1
name CONTAINS 'CAFE' ⇒ 0
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testLikeWildcards
objects [{"name":"invoice-2026-001.pdf"},{"name":"invoice-2026-001.txt"},{"name":"receipt-2026-001.pdf"}]
name LIKE 'invoice-*.pdf' ⇒ 1
name LIKE '*-2026-00?.pdf' ⇒ 2
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testMatchesRegularExpression
objects [{"name":"ABC-123"},{"name":"ABC-12X"}]
name MATCHES '[A-Z]{3}-[0-9]{3}' ⇒ 1
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testBetween
objects [{"counter":1},{"counter":3},{"counter":5},{"counter":9}]
counter BETWEEN {2, 5} ⇒ 2
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testAnyAndAllOverToManyRelationship
objects [{"children":[{"name":"ready"},{"name":"pending"}]},{"children":[{"name":"ready"},{"name":"ready"}]},{"children":[]}]
ANY children.name == 'ready' ⇒ 2
ALL children.name == 'ready' ⇒ 2
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testRelationshipEqualsManagedObjectArgument
objects [{"parent":{"$id":"A"}},{"parent":{"$ref":"A"}},{"parent":{"$id":"B"}}]
parent == %@ ← [{"$ref":"A"}] ⇒ 2
parent != %@ ← [{"$ref":"A"}] ⇒ 1
parent == %@ ← [{"$ref":"B"}] ⇒ 1
parent IN %@ ← [[{"$ref":"A"},{"$ref":"B"}]] ⇒ 3
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testSelfEqualsObjectArgument
objects [{"$id":"one"},{"name":"other"}]
SELF == %@ ← [{"$ref":"one"}] ⇒ 1
SELF IN %@ ← [[{"$ref":"one"}]] ⇒ 1
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateLanguageTests.swift testKeyPathPlaceholder, testOperatorsWithoutWhitespace
objects [{"name":"target","counter":7},{"name":"other","counter":1}]
%K == %@ ← ["counter",7] ⇒ 1
objects [{"name":"a","counter":1},{"name":"b","counter":2}]
counter==1 AND(name=='a') ⇒ 1
counter==1||counter==2 ⇒ 2
source miolabs/MIOCoreData bdf275f5 Tests/MIOCoreDataTests/MIOPredicateEvaluationTests.swift
objects [{"name":"pepe","counter":42},{"name":"pepe","counter":7},{"name":"otilio","counter":42}]
name == %@ and counter == %@ ← ["pepe",42] ⇒ 1
objects [{"name":"same","alias":"same"},{"name":"distinct","alias":"other"}]
name == alias ⇒ 1
objects [{"counter":1},{"counter":5}]
counter not in %@ ← [[1,2]] ⇒ 1
name == ⇒ refused
objects [{"name":"typed","counter":3}]
name == 5 ⇒ 0
name < 5 ⇒ 0
source miolabs/MIOCoreData bdf275f5 Tests/AppleCoreDataTests/NSPredicateTests.swift
objects [{"key":1},{"key":2},{"key":3}]
(key & 1) > 0 ⇒ 2
(key | 1) > 0 ⇒ 3
(key ^ 1) > 0 ⇒ 2
objects [{"available":true,"value":5},{"available":false,"value":0},{"available":true,"value":0}]
available = true ⇒ 2
(available = 1) ⇒ 2
available = true and value > 1 ⇒ 1
not available = true or value >= 1 and value <= 10.5 ⇒ 2
"""#
