// Conditions as apps write them, and the objects that meet them. Expectations follow Core Data's documentation of
// predicates; `FormatLanguage.md` says where missing values and arithmetic are read as its SQLite store reads them.
// Lines of data are as long as they are.
// swift-format-ignore-file

/// Conditions on `PortedLibrary`, an entity before those about it: `condition ⇒ names of the objects`, or `refused`.
let portedConditions = #"""
entity Book
pages BETWEEN {200, 400} ⇒ Beta,Delta,Gamma
price BETWEEN {0.5, 3.5} ⇒ Alpha,Beta,Delta
name BETWEEN {'B', 'E'} ⇒ Beta,Delta
pages BETWEEN {genre, 300} ⇒ Alpha,Beta,Gamma
pages IN {100, 300.0, '200'} ⇒ refused
pages IN {100, 300.0} ⇒ Alpha,Gamma
NOT (name IN[c] {'ALPHA', 'beta'}) ⇒ Delta,Gamma,alphabet,Été
name IN[cd] {'ETE'} ⇒ Été
author == nil ⇒ alphabet,Été
author != nil ⇒ Alpha,Beta,Delta,Gamma
author.name == 'Ann' ⇒ Alpha,Beta
author.mentor.name == 'Ann' ⇒ Gamma
author.mentor == nil ⇒ Alpha,Beta,alphabet,Été
ANY fans.name == 'bob' ⇒ Gamma
SOME fans.name == 'bob' ⇒ Gamma
NONE fans.name == 'bob' ⇒ Alpha,Beta,Delta,alphabet,Été
ALL fans.name == 'Ann' ⇒ Alpha,Beta,Delta,alphabet,Été
NOT ANY fans.name == 'bob' ⇒ Alpha,Beta,Delta,alphabet,Été
ANY fans.name IN {'bob', 'x'} ⇒ Gamma
ANY fans.friends.name == 'Çelik' ⇒ Delta,Gamma
fans.@count == 0 ⇒ Alpha,Beta,alphabet,Été
fans.@count > 1 ⇒ Gamma
reader.name == 'Rita' ⇒ Alpha
author.age > reader.age ⇒ Alpha
author.books.@count > 1 ⇒ Alpha,Beta
ANY author.books.pages == 100 ⇒ Alpha,Beta
price == nil ⇒ Gamma
price > pages / 400 ⇒ Alpha,Beta,Delta,alphabet,Été
genre IN {0, 2} AND pages > 300 ⇒ Delta,Été
big > 9999999999 ⇒ Delta,Gamma,alphabet,Été
published == author.born ⇒ Alpha
published < author.born ⇒
name CONTAINS[c] author.name ⇒
stars >= 2 ⇒ alphabet,Été
stars == 0.5 ⇒ Beta
name BEGINSWITH[c] 'ALPHA' ⇒ Alpha,alphabet
name BEGINSWITH[cd] 'e' ⇒ Été
'Alph' IN name ⇒ Alpha
name IN {'x', author.name, 'Beta'} ⇒ Beta
ANY fans.name CONTAINS 'nn' ⇒ Delta,Gamma
SUBQUERY(fans, $f, $f.name == 'Ann' OR $f.name == 'bob').@count == 2 ⇒ Gamma
SUBQUERY(fans, $f, $f.books.@count == 2)[0] != nil ⇒ Delta,Gamma
(fans.@count + 1) * 2 == 6 ⇒ Gamma
author.shelf.@count == 3 ⇒ Delta
entity Author
books.@count == 2 AND active == YES ⇒ Ann
books.@sum.pages > 250 ⇒ Ann,Dora,bob
books.@sum.pages == 0 ⇒ Çelik
books.@avg.pages == 150 ⇒ Ann
books.@max.pages == 200 ⇒ Ann
books.@max.name == 'Beta' ⇒ Ann
books.@max.pages == nil ⇒ Çelik
books.@max.price > 1 ⇒ Ann,Dora
max(books.pages) == 200 ⇒ Ann
books.pages.@max.self == 200 ⇒ Ann
SUBQUERY(books, $b, $b.pages > 150).@count == 1 ⇒ Ann,Dora,bob
SUBQUERY(books, $b, $b.pages > 150 AND $b.name BEGINSWITH 'B').@count > 0 ⇒ Ann
SUBQUERY(books, $b, ANY $b.fans.name == 'Ann').@count > 0 ⇒ Dora,bob
SUBQUERY(books, $b, SUBQUERY($b.fans, $f, $f.active == NO).@count > 0).@count > 0 ⇒ bob
SUBQUERY(books, $b, $b.author == SELF).@count == books.@count ⇒ Ann,Dora,bob,Çelik
SUBQUERY(pupils, $p, $p.level > level).@count > 0 ⇒ Ann,bob
ANY books.pages > 150 ⇒ Ann,Dora,bob
ALL books.pages > 150 ⇒ Dora,bob,Çelik
ANY pupils.books.name == 'Delta' ⇒ bob
SUBQUERY(pupils.books, $x, $x.name == 'Delta').@count == 1 ⇒ bob
spouse.name == 'bob' ⇒ Ann
spouse != nil ⇒ Ann,bob
email == nil ⇒ bob
email == '' ⇒ Dora
email = NULL ⇒ bob
email <> nil ⇒ Ann,Dora,Çelik
email.length == 0 ⇒ Dora
email.length > 3 ⇒ Ann,Çelik
length(email) > 3 ⇒ Ann,Çelik
email == nil OR email == '' ⇒ Dora,bob
score > 1 ⇒ Ann,bob
score < 0 OR score == nil ⇒ Dora,Çelik
NOT (score > 1) ⇒ Dora,Çelik
score != 1.5 ⇒ bob,Çelik
level == 1.0 ⇒ Ann,Çelik
level == 1.5 ⇒
level > 1.5 ⇒ Dora,bob
active == 1 ⇒ Ann,Dora,Çelik
active = NO ⇒ bob
active == false ⇒ bob
NOT active == YES ⇒ bob
key == nil ⇒ Dora,bob,Çelik
cash == 10.25 ⇒ Ann
cash + 1 == 4 ⇒ bob
ratio == 0.1 ⇒ Ann
born > CAST(0, 'NSDate') ⇒
born < CAST(0, 'NSDate') ⇒ Ann,Çelik
CAST(born, 'NSNumber') < 0 ⇒ Ann,Çelik
name LIKE 'A*' ⇒ Ann
name LIKE[c] 'a?n' ⇒ Ann
name LIKE[cd] 'celik' ⇒ Çelik
name LIKE '*' ⇒ Ann,Dora,bob,Çelik
name LIKE '\\*' ⇒
name BEGINSWITH[cd] 'c' ⇒ Çelik
name BEGINSWITH[c] 'B' ⇒ bob
name ENDSWITH 'n' ⇒ Ann
name CONTAINS[d] 'eli' ⇒ Çelik
name CONTAINS[cdl] 'ELI' ⇒ Çelik
name CONTAINS '' ⇒ Ann,Dora,bob,Çelik
email CONTAINS '@' ⇒ Ann,Çelik
NOT (email CONTAINS '@') ⇒ Dora,bob
name MATCHES '[A-D].*' ⇒ Ann,Dora
name MATCHES[c] '(ann|BOB)' ⇒ Ann,bob
name MATCHES '.{3}' ⇒ Ann,bob
name ==[c] 'ANN' ⇒ Ann
name ==[cd] 'celik' ⇒ Çelik
name !=[c] 'ANN' ⇒ Dora,bob,Çelik
name > 'C' ⇒ Dora,bob,Çelik
name >[c] 'b' ⇒ Dora,bob,Çelik
name <[cd] 'c' ⇒ Ann,bob
name BEGINSWITH email ⇒ Dora
email BEGINSWITH[c] name ⇒ Ann
'Ann' == name ⇒ Ann
1 < level ⇒ Dora,bob
'Annabel' BEGINSWITH name ⇒ Ann
level == level ⇒ Ann,Dora,bob,Çelik
age == nil ⇒ Çelik
age > level * 20 ⇒ Ann
age - 5 == 25 ⇒ Ann
age / 2 == 12 ⇒ bob
modulus:by:(age, 7) == 4 ⇒ Dora,bob
level & 1 == 1 ⇒ Ann,Dora,Çelik
level | 4 > 6 ⇒ Dora
(level == 1 OR level == 2) AND age < 30 ⇒ bob
level == 1 OR level == 2 AND age < 30 ⇒ Ann,bob,Çelik
TERNARY(age == nil, 0, age) == 0 ⇒ Çelik
TERNARY(active == YES, 'y', 'n') == 'n' ⇒ bob
lowercase(name) == 'bob' ⇒ bob
uppercase:(name) == 'ANN' ⇒ Ann
FUNCTION(name, 'uppercaseString') == 'ANN' ⇒ Ann
canonical:(name) == 'celik' ⇒ Çelik
noindex:(name) == 'Ann' ⇒ Ann
abs:(score) == 1 ⇒ Çelik
ceiling:(score) == 3 ⇒ bob
sqrt:(level) > 1.5 ⇒ Dora
CAST(level, 'NSString') == '2' ⇒ bob
TRUEPREDICATE ⇒ Ann,Dora,bob,Çelik
FALSEPREDICATE OR name == 'bob' ⇒ bob
NOT FALSEPREDICATE ⇒ Ann,Dora,bob,Çelik
1 == 1 ⇒ Ann,Dora,bob,Çelik
nil == nil ⇒ Ann,Dora,bob,Çelik
shelf[FIRST].name == 'Gamma' ⇒ Dora
shelf[LAST].name == 'Beta' ⇒ Dora
shelf[1].name == 'Alpha' ⇒ Dora
shelf[SIZE] == 3 ⇒ Dora
favourites INTERSECT shelf != nil ⇒ refused
(favourites INTERSECT shelf).@count > 0 ⇒
count:(books) > 1 ⇒ Ann
books.@count == favourites.@count ⇒ Ann,bob,Çelik
ANY books.pages == favourites.pages ⇒ refused
mentor.pupils.@count > 1 ⇒ bob,Çelik
ANY mentor.pupils.name == name ⇒ Dora,bob,Çelik
SELF.name == 'Ann' ⇒ Ann
NOT (mentor.name == 'Ann') ⇒ Ann,Dora
mentor.name != 'Ann' ⇒ Dora
name == 'Ann' && (level == 1 || level == 9) && !(active == NO) ⇒ Ann
name ENDSWITH[cd] 'IK' || name == "bob" ⇒ bob,Çelik
(name)==('Ann') ⇒ Ann
card == nil ⇒ Ann,Dora,bob,Çelik
entity.name == 'Author' ⇒ refused
born != nil AND born <= now() ⇒ Ann,Çelik
name == $X ⇒ refused
books == {} ⇒ Çelik
books.name == 'Alpha' ⇒ refused
level == '1' ⇒ refused
name == 1 ⇒ refused
name == nil OR name.length < 4 ⇒ Ann,bob
score BETWEEN {-2, 1.5} ⇒ Ann,Çelik
books.@count BETWEEN {1, 1} ⇒ Dora,bob
books.@count IN {0, 2} ⇒ Ann,Çelik
sum(books.pages) == 300 ⇒ Ann,bob
books.@distinctUnionOfObjects.genre.@count == 2 ⇒ Ann
average(books.pages) == 150 ⇒ Ann
ANY books.author.name == 'Ann' ⇒ Ann
SUBQUERY(friends, $f, $f != SELF AND $f.level >= $f.mentor.level).@count == 2 ⇒ Ann
books.@count + pupils.@count == 4 ⇒ Ann
entity Person
age < 31 ⇒ Ann,Rita,bob
name == 'Rita' ⇒ Rita
entity Novelist
name != nil AND prize == 'Nobel' ⇒ Dora
mentor.mentor.name == 'Ann' ⇒ Dora
"""#
