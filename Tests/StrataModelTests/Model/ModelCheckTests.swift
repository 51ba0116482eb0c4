import Foundation
import StrataModel
import Testing

struct ModelCheckTests {
    @Test func soundModelIsAccepted() {
        #expect(
            problems(
                entity("Movie", [attribute("title"), toOne("familyMember", "FamilyMember")]),
                entity(
                    "FamilyMember",
                    [attribute("name"), toMany("favoriteMovies", "Movie", inverse: "familyMember", rule: .cascade)])
            )
            .isEmpty)
    }

    @Test func everyProblemIsNamedAtOnceInOrder() throws {
        let error = #expect(throws: StrataError.self) {
            try ManagedObjectModel(entities: [
                entity("Zebra", [toOne("owner", "Nobody"), attribute("hash"), attribute("age", .undefined)]),
                entity("Ant", [toOne("queen", "Zebra")]),
            ])
        }
        #expect(error?.code == .invalidModel)
        #expect(error?.message == "The model has 4 problems.")
        #expect(
            error?.details.map(\.message) == [
                "Ant.queen has no inverse; name one, or say that there is none.",
                "Zebra.age has no type; only a transient attribute can do without.",
                "Zebra.hash is a reserved name.",
                "Zebra.owner leads to an unknown entity, Nobody.",
            ])
        #expect(error?.details.map(\.context.key) == ["queen", "age", "hash", "owner"])
    }

    @Test(arguments: [
        ("", "is not a name: it is empty."), ("1st", "is not a name: it must begin with a letter."),
        ("a b", "is not a name: it may only have letters, digits and underscores."),
        ("a.b", "is not a name: it may only have letters, digits and underscores."),
        ("a#position", "is not a name: it may only have letters, digits and underscores."),
        ("objectID", "is a reserved name."), ("SELF", "is a reserved name."),
        ("isDeleted", "is a reserved name."), ("managedObjectContext", "is a reserved name."),
    ])
    func badPropertyNamesAreRefused(name: String, sentence: String) {
        #expect(problems(entity("A", [attribute(name)])) == ["A.\(name) \(sentence)"])
    }

    @Test(arguments: ["internal", "default", "value", "size", "count", "first", "in", "größe", "_hidden", "a1"])
    func namesThatSwiftOrPredicatesCanQuoteAreAccepted(name: String) {
        #expect(problems(entity("A", [attribute(name)])).isEmpty)
    }

    @Test(arguments: ["Type", "Protocol", "Self", "self", "SELF", "Any", "ManagedObject", "class"])
    func entitiesCanHaveNamesThatPropertiesCannot(name: String) {
        #expect(problems(entity(name, [attribute("x")])).isEmpty)
    }

    @Test func overlongNameIsRefused() {
        #expect(problems(entity("A", [attribute(String(repeating: "x", count: 256))])).count == 1)
        #expect(problems(entity("A", [attribute(String(repeating: "x", count: 255))])).isEmpty)
    }

    @Test func duplicatesAreRefused() {
        #expect(problems(entity("A"), entity("A")) == ["A is declared twice."])
        #expect(problems(entity("A", [attribute("x"), attribute("x")])) == ["A.x is declared twice."])
    }

    @Test func entityWithoutPropertiesIsAccepted() {
        #expect(problems(entity("Empty")).isEmpty)
    }

    @Test func problemsOfInheritanceAreNamed() {
        #expect(problems(entity("A", parent: "Nobody")) == ["A has an unknown parent, Nobody."])
        #expect(
            problems(entity("A", parent: "B"), entity("B", parent: "A"), entity("C", parent: "B")) == [
                "A is its own ancestor, or has one that is.", "B is its own ancestor, or has one that is.",
                "C is its own ancestor, or has one that is.",
            ])
        #expect(problems(entity("A", parent: "A")) == ["A is its own ancestor, or has one that is."])
        #expect(
            problems(
                entity("A", [attribute("x")]), entity("B", parent: "A"), entity("C", [attribute("x")], parent: "B"))
                == ["C.x is already inherited from A."])
    }

    @Test func twoNamesCannotContinueTheSameOldOne() {
        #expect(
            problems(entity("A", [attribute("x", renamedFrom: "old"), attribute("y", renamedFrom: "old")])) == [
                "A.y has the renaming identifier old, which x has too."
            ])
        #expect(
            problems(entity("A", renamedFrom: "Old"), entity("B", renamedFrom: "Old")) == [
                "B has the renaming identifier Old, which A has too."
            ])
    }

    // MARK: Attributes

    @Test func undefinedTypeIsForTransientAttributesOnly() {
        #expect(problems(entity("A", [attribute("x", .undefined, transient: true)])).isEmpty)
        #expect(problems(entity("A", [attribute("x", .undefined)])).count == 1)
    }

    @Test func externalStorageIsForBinaryDataOnly() {
        #expect(problems(entity("A", [attribute("x", .binaryData, external: true)])).isEmpty)
        #expect(
            problems(entity("A", [attribute("x", .string, external: true)])) == [
                "A.x allows external storage; only binary data can."
            ])
    }

    @Test func defaultOfTheWrongTypeIsRefused() {
        #expect(
            problems(entity("A", [attribute("x", .integer32, default: .string("1"))])) == [
                "A.x has a bad default: x must be a 32-bit integer, not string."
            ])
        #expect(problems(entity("A", [attribute("x", .integer16, default: .integer(40_000))])).count == 1)
        #expect(problems(entity("A", [attribute("x", .integer16, default: .integer(-32_768))])).isEmpty)
        #expect(
            problems(entity("A", [attribute("x", .objectID, default: .objectID(ObjectID(rawValue: 1)))])).count == 1)
    }

    @Test func defaultOutsideItsOwnRulesIsRefused() {
        let rules: [ValidationRule] = [.range(minimum: .integer(0), maximum: .integer(5))]
        #expect(
            problems(entity("A", [attribute("rating", .double, default: .double(6), rules: rules)])) == [
                "A.rating has a bad default: rating is too large."
            ])
        #expect(
            problems(entity("A", [attribute("x", default: .string("ab"), rules: [.length(minimum: 3, maximum: nil)])]))
                == ["A.x has a bad default: x is too short."])
    }

    @Test(arguments: [
        (ValidationRule.range(minimum: .integer(2), maximum: .integer(1)), AttributeType.double),
        (.range(minimum: .integer(1), maximum: nil), .string),
        (.range(minimum: .integer(1), maximum: nil), .boolean),
        (.range(minimum: .integer(1), maximum: nil), .date),
        (.range(minimum: .date(.now), maximum: nil), .integer32),
        (.range(minimum: .double(.nan), maximum: nil), .double),
        (.range(minimum: nil, maximum: nil), .double),
        (.length(minimum: 3, maximum: 2), .string), (.length(minimum: -1, maximum: nil), .string),
        (.length(minimum: 1, maximum: nil), .integer32), (.length(minimum: nil, maximum: nil), .string),
        (.pattern("a"), .integer32),
    ])
    func rulesThatMakeNoSenseAreRefused(rule: ValidationRule, type: AttributeType) {
        #expect(problems(entity("A", [attribute("x", type, rules: [rule])])).count == 1)
    }

    @Test func compositesAreChecked() {
        #expect(
            problems(entity("A", [attribute("x", .composite, elements: [part("a"), part("b", .double)])])).isEmpty)
        #expect(problems(entity("A", [attribute("x", .composite)])) == ["A.x is a composite without elements."])
        #expect(
            problems(entity("A", [attribute("x", .string, elements: [part("a")])])) == [
                "A.x has elements, which only a composite can."
            ])
        #expect(
            problems(entity("A", [attribute("x", .composite, elements: [part("a"), part("a"), part("self")])])) == [
                "A.x.a is declared twice.", "A.x.self is a reserved name.",
            ])
        #expect(
            problems(entity("A", [attribute("x", .composite, elements: [part("a", default: .integer(1))])])) == [
                "A.x.a has a bad default: a must be a string, not integer."
            ])
        var nested = part("deep")
        for level in 0..<9 { nested = part("level\(level)", .composite, elements: [nested]) }
        #expect(problems(entity("A", [.attribute(nested)])).count == 1)
    }

    // MARK: Relationships

    @Test func countsAndOrderMustMakeSense() {
        let loner = RelationshipDescription(
            name: "x", destinationEntityName: "A", hasNoInverse: true, isOrdered: true, maxCount: 2)
        #expect(
            problems(entity("A", [.relationship(loner)])) == [
                "A.x is a to-one relationship with a count above one.", "A.x is ordered; only a to-many can be.",
            ])
        #expect(
            problems(entity("A", [toMany("x", "A", alone: true, min: 3, max: 2)])) == [
                "A.x must have at least 3 members and at most 2."
            ])
        #expect(problems(entity("A", [toMany("x", "A", alone: true, min: -1)])).count == 1)
        let imported = RelationshipDescription(
            name: "x", destinationEntityName: "A", hasNoInverse: true, minCount: 1, maxCount: 1)
        #expect(problems(entity("A", [.relationship(imported)])).isEmpty)
    }

    @Test func requiredRelationshipNeedsSomethingConcrete() {
        let required = toOne("x", "B", alone: true, optional: false)
        #expect(
            problems(entity("A", [required]), entity("B", isAbstract: true)) == [
                "A.x is required, but B is abstract and has no concrete subentity."
            ])
        #expect(problems(entity("A", [required]), entity("B", isAbstract: true), entity("C", parent: "B")).isEmpty)
    }

    // MARK: Indexes and predicates

    @Test func indexesAndConstraintsMustStandOnStoredProperties() {
        let properties = [
            attribute("name"), attribute("note", transient: true), toMany("many", "A", alone: true),
            toOne("one", "A", alone: true), attribute("place", .composite, elements: [part("city")]),
            attribute("photo", .binaryData, external: true),
        ]
        func index(_ paths: String...) -> [FetchIndexDescription] {
            [FetchIndexDescription(name: "i", elements: paths.map { FetchIndexElement($0) })]
        }
        #expect(problems(entity("A", properties, indexes: index("name", "one", "place.city"))).isEmpty)
        #expect(problems(entity("A", properties, unique: [["name", "one"], ["name"]])).isEmpty)
        for bad in ["nothing", "note", "many", "place", "place.street", "name.length", "photo", "one.name"] {
            #expect(problems(entity("A", properties, indexes: index(bad))).count == 1, "\(bad)")
            #expect(problems(entity("A", properties, unique: [[bad]])).count == 1, "\(bad)")
        }
        #expect(problems(entity("A", properties, indexes: index())).count == 1)
        #expect(problems(entity("A", properties, indexes: index("name", "name"))).count == 1)
        #expect(problems(entity("A", properties, indexes: index("name") + index("one"))).count == 1)
        #expect(problems(entity("A", properties, unique: [["name", "one"], ["one", "name"]])).count == 1)
        #expect(problems(entity("A", properties, unique: [[]])).count == 1)
        let folded = FetchIndexDescription(
            name: "i", elements: [FetchIndexElement("one", folding: .caseInsensitive)])
        #expect(problems(entity("A", properties, indexes: [folded])).count == 1)
    }

    @Test func predicatesAreBoundedAndTheirPatternsCompiled() {
        var deep = FetchPredicate.isNil("x")
        for _ in 0..<5_000 { deep = .not(deep) }
        let properties = [attribute("x")]
        #expect(
            problems(entity("A", properties, rules: [ValidationPredicate(deep, message: "no")])) == [
                "A has a validation predicate that is nested more than 128 levels deep."
            ])
        #expect(
            problems(entity("A", properties, rules: [ValidationPredicate(.matches("x", "("), message: "no")])).count
                == 1)
        #expect(problems(entity("A", properties, rules: [ValidationPredicate(.isNil("x"), message: "")])).count == 1)
        #expect(problems(entity("A", [attribute("x", rules: [.pattern("[a-z")])])).count == 1)
        let foreign = ValidationPredicate(.isNil("y"), message: "no")
        #expect(problems(entity("A", [attribute("x", rules: [.predicate(foreign)])])).count == 1)
    }

    @Test func inheritedPropertiesCanBeIndexed() {
        #expect(
            problems(
                entity("A", [attribute("name")]),
                entity("B", [attribute("age", .integer16)], parent: "A", unique: [["name", "age"]])
            ).isEmpty)
    }

    @Test func predicatesMustSpeakOfKnownProperties() {
        func holds(_ path: String) -> FetchPredicate {
            .comparison(ComparisonPredicate(.keyPath(path), .equalTo, .constant(.integer(1))))
        }
        let properties = [attribute("x", .integer32), toOne("next", "A", alone: true)]
        func model(_ path: String) -> EntityDescription {
            entity("A", properties, rules: [ValidationPredicate(holds(path), message: "no")])
        }
        #expect(problems(model("next.next.x")).isEmpty)
        #expect(problems(model("next.y")) == ["A.next.y is unknown, in a validation predicate."])
        func partial(_ path: String) -> EntityDescription {
            entity(
                "A", properties,
                indexes: [
                    FetchIndexDescription(
                        name: "i", elements: [FetchIndexElement("x")], partialIndexPredicate: holds(path))
                ])
        }
        #expect(problems(partial("x")).isEmpty)
        for format in ["x > random()", "now() > x", "SUBQUERY(x, $y, $y > 1)[SIZE] == 1", "$v == 1"] {
            let index = FetchIndexDescription(
                name: "i", elements: [FetchIndexElement("x")],
                partialIndexPredicate: try? FetchPredicate(format: format))
            #expect(!problems(entity("A", properties, indexes: [index])).isEmpty, "\(format)")
        }
        #expect(problems(partial("next.x")) == ["A.next.x leads to another object, in the partial index i."])
    }

    @Test func misspeltNamesAreSuggested() {
        let owner = entity("Owner", [attribute("name"), toMany("films", "Film", inverse: "owner")])
        func film(_ properties: [PropertyDescription], unique: [[String]] = [], rules: [ValidationPredicate] = [])
            -> EntityDescription
        {
            entity(
                "Film", [attribute("title"), toOne("owner", "Owner", inverse: "films")] + properties,
                unique: unique, rules: rules)
        }
        #expect(
            problems(entity("A", parent: "Onwer"), owner, film([])) == [
                "A has an unknown parent, Onwer; did you mean Owner?"
            ])
        #expect(
            problems(film([toOne("maker", "Onwer", alone: true)]), owner) == [
                "Film.maker leads to an unknown entity, Onwer; did you mean Owner?"
            ])
        #expect(
            problems(film([], unique: [["titel"]]), owner) == [
                "Film.titel is unknown (did you mean title?), in the uniqueness constraint over titel."
            ])
        #expect(
            problems(film([], rules: [ValidationPredicate(.isNotNil("owner.nmae"), message: "no")]), owner) == [
                "Film.owner.nmae is unknown (did you mean name?), in a validation predicate."
            ])
        let wrong = entity("Film", [attribute("title"), toOne("owner", "Owner", inverse: "flims")])
        #expect(
            problems(wrong, entity("Owner", [toMany("films", "Film", inverse: "owner")])).contains(
                "Film.owner names an unknown inverse, Owner.flims; did you mean films?"))
    }
}
