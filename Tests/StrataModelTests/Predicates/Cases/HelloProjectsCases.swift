// Expectations from the tests of daydreamboy's HelloNSPredicate, which run on Apple's Foundation, and from NSHipster's
// page on NSExpression. Lines of data are as long as they are. swift-format-ignore-file

let helloProjectsCases = #"""
    source daydreamboy/HelloProjects 0addde4b HelloNSPredicate/Tests/Tests_NSPredicate.m test_Basic_Comparisons
    1 == 1 ⇒ 1
    2 => 1 ⇒ 1
    1 =< 2 ⇒ 1
    1 <> 2 ⇒ 1
    1 << 3 > 1 ⇒ 1
    1 << 3 == 8 ⇒ 1
    8 >> 2 == 2 ⇒ 1
    8 >> 1 == 4 ⇒ 1
    1 & 0 == 0 ⇒ 1
    2 & 1 == 0 ⇒ 1
    1 | 0 == 1 ⇒ 1
    2 | 1 == 3 ⇒ 1
    1 ^ 0 == 1 ⇒ 1
    1 ^ 1 == 0 ⇒ 1
    2 ^ 1 == 3 ⇒ 1
    source daydreamboy/HelloProjects 0addde4b HelloNSPredicate/Tests/Tests_NSPredicate.m test_Compound_Predicates, test_Boolean_Value_Predicates
    (1 < 0) || (1 > 0) ⇒ 1
    (1 < 0) OR (1 > 0) ⇒ 1
    (1 < 0) && (1 > 0) ⇒ 0
    (1 < 0) AND (1 > 0) ⇒ 0
    !(1 < 0) ⇒ 1
    NOT(1 < 0) ⇒ 1
    (1 < 0) || TRUEPREDICATE ⇒ 1
    (1 < 0) || FALSEPREDICATE ⇒ 0
    source daydreamboy/HelloProjects 0addde4b HelloNSPredicate/Tests/Tests_NSPredicate.m test_String_Comparisons
    'hello' BEGINSWITH 'he' ⇒ 1
    'Hello' BEGINSWITH 'he' ⇒ 0
    'Hello' BEGINSWITH[cd] 'he' ⇒ 1
    'hello' ENDSWITH 'llo' ⇒ 1
    'HELLO' ENDSWITH 'llo' ⇒ 0
    'HELLO' ENDSWITH[cd] 'llo' ⇒ 1
    'hello' CONTAINS 'll' ⇒ 1
    'hello' CONTAINS 'LL' ⇒ 0
    'HELLO' CONTAINS[cd] 'll' ⇒ 1
    'HELLO' LIKE 'hello' ⇒ 0
    'HELLO' LIKE[cd] 'hello' ⇒ 1
    'hello' LIKE 'hel*o' ⇒ 1
    'heo' LIKE 'hel*o' ⇒ 0
    'helllo' LIKE 'hel*o' ⇒ 1
    'helo' LIKE 'hel?o' ⇒ 0
    'hello' LIKE 'hel?o' ⇒ 1
    'helllo' LIKE 'hel?o' ⇒ 0
    'hello' MATCHES 'hel{2}o' ⇒ 1
    'heo' MATCHES 'he[l]*o' ⇒ 1
    'helllo' == 'hel*o' ⇒ 0
    'hello' == 'hel?o' ⇒ 0
    'helllo' != 'hel*o' ⇒ 1
    'hello' = 'hello' ⇒ 1
    source daydreamboy/HelloProjects 0addde4b HelloNSPredicate/Tests/Tests_NSPredicate.m test_exception
    0 || 1 ⇒ refused
    TRUE ⇒ refused
    1 ⇒ refused
    source daydreamboy/HelloProjects cb7308bc HelloNSPredicate/Tests/Tests_NSPredicate.m test_evaluateWithObject_substitutionVariables
    $a > 1 ← [{"a":1}] ⇒ 0
    $a > 1 ← [{"a":2}] ⇒ 1
    $a[0] > 1 ← [{"a":[1]}] ⇒ 0
    $a[0] > 1 ← [{"a":[2]}] ⇒ 1
    $a[$b] > 1 ← [{"a":[2],"b":0}] ⇒ 1
    $a + 1  > 1 ← [{"a":1}] ⇒ 1
    $a - 1  < 1 ← [{"a":1}] ⇒ 1
    $a / 2.5 > 1 ← [{"a":5}] ⇒ 1
    $a / 2.5 == 2 ← [{"a":5}] ⇒ 1
    $a / 2.5 == 2.0 ← [{"a":5}] ⇒ 1
    $a * 3 == 6.0 ← [{"a":2}] ⇒ 1
    $a ** 3 == 8.0 ← [{"a":2}] ⇒ 1
    ($a + 1) ** 3 == 8.0 ← [{"a":1}] ⇒ 1
    source daydreamboy/HelloProjects 0addde4b HelloNSPredicate/Tests/Tests_NSPredicate.m test_syntax_wildcard_star, test_syntax_wildcard_question_mark, test_syntax_boolean_values
    objects ["prefixxxxxxsuffix","prefixxsuffix","prefixsuffix"]
    SELF like[c] 'prefix*suffix' ⇒ 3
    SELF like[c] "prefix?suffix" ⇒ 1
    objects [{"isMale":true},{"isMale":false}]
    isMale == %@ ← [true] ⇒ 1
    isMale == yes ⇒ 1
    isMale == no ⇒ 1
    isMale == FALSE ⇒ 1
    source nshipster.com/nsexpression: evaluating math, functions
    objects [null]
    4 + 5 - 2**3 == 1 ⇒ 1
    stddev:({1, 2, 3, 4, 4, 5, 9, 11}) BETWEEN {3.21859, 3.2186} ⇒ 1
    """#
