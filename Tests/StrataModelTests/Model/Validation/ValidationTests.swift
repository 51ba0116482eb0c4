import Foundation
import StrataModel
import Testing

struct ValidationTests {
    private func codes(_ attribute: AttributeDescription, _ value: AttributeValue) -> [StrataError.Code] {
        attribute.validate(value).map(\.code)
    }

    @Test func tooLargeARatingIsToldAsCoreDataTellsIt() throws {
        let rating = part("rating", .double, rules: [.range(minimum: 0, maximum: 5)])
        let errors = rating.validate(.double(6), entityName: "BowTie")
        let error = try #require(errors.first)
        #expect(errors.count == 1)
        #expect(error.code == .validationNumberTooLarge)
        #expect(error.code.rawValue == 1610)
        #expect(error.message == "rating is too large.")
        #expect(error.context.entityName == "BowTie")
        #expect(error.context.key == "rating")
        #expect(error.context.value == .double(6))
        #expect(codes(rating, .double(-0.001)) == [.validationNumberTooSmall])
        for sound in [0, 2.5, 5] { #expect(codes(rating, .double(sound)).isEmpty) }
        #expect(codes(rating, .double(.nan)) == [.managedObjectValidation])
    }

    @Test func everyRuleThatIsBrokenIsTold() {
        let name = part(
            "name",
            rules: [
                .length(minimum: 3, maximum: nil), .pattern("[a-z]*"),
                .predicate(ValidationPredicate(.notEqual("SELF", "X"), message: "X will not do.")),
            ])
        #expect(
            name.validate(.string("X")).map(\.message) == [
                "name is too short.", "name does not match the pattern.", "X will not do.",
            ])
        #expect(
            codes(name, .string("X")) == [
                .validationStringTooShort, .validationStringPatternMatching, .managedObjectValidation,
            ])
        #expect(codes(name, .string("abc")).isEmpty)
    }

    @Test func missingMandatoryValueIsTold() {
        #expect(part("name").validate(.null).map(\.message) == ["name is required."])
        #expect(codes(part("name"), .null) == [.validationMissingMandatoryProperty])
        #expect(codes(part("name", optional: true, rules: [.length(minimum: 3, maximum: nil)]), .null).isEmpty)
        #expect(codes(part("name"), .string("")).isEmpty)
    }

    @Test func lengthCountsCharacters() {
        let name = part("name", rules: [.length(minimum: 2, maximum: 3)])
        #expect(codes(name, .string("👨‍👩‍👧👨‍👩‍👧")).isEmpty)
        #expect(codes(name, .string("👨‍👩‍👧")) == [.validationStringTooShort])
        #expect(codes(name, .string("abcd")) == [.validationStringTooLong])
        #expect(
            codes(part("d", .binaryData, rules: [.length(minimum: nil, maximum: 1)]), .data(Data([1, 2]))).count == 1)
    }

    @Test func datesAreTooLateOrTooSoon() {
        let (early, late) = (Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 100))
        let date = part("lastWorn", .date, rules: [.range(minimum: .date(early), maximum: .date(late))])
        #expect(date.validate(.date(late + 1)).map(\.message) == ["lastWorn is too late."])
        #expect(codes(date, .date(late + 1)) == [.validationDateTooLate])
        #expect(codes(date, .date(early - 1)) == [.validationDateTooSoon])
        #expect(codes(date, .date(early)).isEmpty && codes(date, .date(late)).isEmpty)
        #expect(codes(date, .date(Date(timeIntervalSinceReferenceDate: .nan))) == [.validationInvalidDate])
    }

    @Test func decimalsKeepTheirRange() {
        let price = part("price", .decimal, rules: [.range(minimum: 0, maximum: .double(0.1))])
        #expect(codes(price, .decimal(Decimal(string: "0.1") ?? 0)).isEmpty)
        #expect(codes(price, .decimal(Decimal(string: "0.10000000000000000001") ?? 0)) == [.validationNumberTooLarge])
    }

    @Test func compositesAreValidatedElementByElement() {
        let tint = part(
            "tint", .composite,
            elements: [
                part("red", .double, rules: [.range(minimum: 0, maximum: 1)]),
                part("name", optional: true),
            ],
            rules: [.predicate(ValidationPredicate(.isNil("name") || .notEqual("name", "puce"), message: "Not puce."))])
        #expect(
            tint.validate(.composite(["red": 2.0, "name": "puce"])).map(\.message) == [
                "Not puce.", "tint.red is too large.",
            ])
        #expect(tint.validate(.composite([:])).map(\.context.key) == ["tint.red"])
        #expect(codes(tint, .composite(["green": 1.0])) == [.wrongType])
        #expect(codes(tint, .composite(["red": "1"])) == [.wrongType])
    }

    @Test func wrongTypeIsTold() {
        #expect(
            part("age", .integer16).validate(.string("1")).map(\.message) == [
                "age must be a 16-bit integer, not string."
            ])
        #expect(codes(part("age", .integer16), .integer(70_000)) == [.wrongType])
        let reference = BlobReference(digest: Data(count: 32), sizeInBytes: 5)
        #expect(codes(part("d", .binaryData), .blob(reference)) == [.wrongType])
        #expect(codes(part("d", .binaryData, external: true), .blob(reference)).isEmpty)
    }

    @Test func countsOfRelationshipsAreBounded() {
        func messages(_ property: PropertyDescription, _ count: Int) -> [String] {
            property.relationship?.validate(count: count).map(\.message) ?? ["not a relationship"]
        }
        #expect(messages(toOne("owner", "A", optional: false), 0) == ["owner is required."])
        #expect(messages(toOne("owner", "A", optional: false), 1).isEmpty)
        #expect(messages(toOne("owner", "A"), 0).isEmpty)
        let some = toMany("parts", "A", min: 2, max: 3)
        #expect(messages(some, 0).isEmpty)
        #expect(messages(some, 1) == ["parts has too few members."])
        #expect(messages(some, 3).isEmpty)
        #expect(messages(some, 4) == ["parts has too many members."])
        #expect(messages(toMany("parts", "A", min: 2, optional: false), 0) == ["parts has too few members."])
        #expect(messages(toMany("parts", "A", optional: false), 0).isEmpty)
    }

    @Test func entityRulesSpeakOfTheWholeObject() {
        let rule = ValidationPredicate(
            .comparison(ComparisonPredicate(.keyPath("from"), .lessThan, .keyPath("to"))), message: "from after to")
        let trip = entity("Trip", rules: [rule])
        let sound: [String: AttributeValue] = ["from": 1, "to": 2]
        func errors(_ values: [String: AttributeValue]) -> [StrataError] {
            trip.validationPredicates.failures(
                of: ObjectID(rawValue: 1), entityName: trip.name, in: OneObject(values: values))
        }
        #expect(errors(sound).isEmpty)
        let found = errors(["from": 2, "to": 1])
        #expect(found.map(\.message) == ["from after to"])
        #expect(found.first?.context.predicate == "from < to")
    }

    @Test(arguments: [
        ("length >= 2", "ab", "a"), ("SELF.length >= 2", "ab", "a"), ("length BETWEEN {2, 3}", "abc", "abcd"),
        ("SELF MATCHES '[a-z]+[0-9]?'", "ab1", "1"), ("SELF != 'no' AND length < 3", "ye", "no"),
    ])
    func predicatesOfAttributesSpeakAsXcodeWritesThem(format: String, right: String, wrong: String) throws {
        let rule = ValidationRule.predicate(ValidationPredicate(try FetchPredicate(format: format), message: "no"))
        let name = part("name", rules: [rule])
        #expect(codes(name, .string(right)).isEmpty && codes(name, .string(wrong)) == [.managedObjectValidation])
        #expect(problems(entity("A", [.attribute(name)])).isEmpty)
    }

    @Test func lengthsAreOfTextAndDataAlone() throws {
        let rule = ValidationRule.predicate(
            ValidationPredicate(try FetchPredicate(format: "length == 2"), message: "no"))
        #expect(codes(part("d", .binaryData, rules: [rule]), .data(Data([1, 2]))).isEmpty)
        #expect(codes(part("d", .binaryData, rules: [rule]), .data(Data([1]))) == [.managedObjectValidation])
        #expect(codes(part("u", .uri, rules: [rule]), .url(try #require(URL(string: "a:")))).isEmpty)
        #expect(
            problems(entity("A", [attribute("n", .integer16, rules: [rule])])) == [
                "A.n has a validation predicate that uses length; it may use only SELF, its length and its elements."
            ])
    }

    @Test func keyPathsOfCompositesAreInPredicatesAndConstraints() throws {
        func rule(_ format: String) throws -> ValidationPredicate {
            ValidationPredicate(try FetchPredicate(format: format), message: "no")
        }
        let home = part(
            "home", .composite, elements: [part("city"), part("spot", .composite, elements: [part("x", .double)])],
            rules: [.predicate(try rule("city.length > 1 AND SELF.spot.x >= 0"))])
        let sound = AttributeValue.composite(["city": "Ur", "spot": .composite(["x": 0.5])])
        #expect(codes(home, sound).isEmpty)
        #expect(codes(home, .composite(["city": "U", "spot": .composite(["x": 0.5])])) == [.managedObjectValidation])
        let person = entity(
            "Person", [.attribute(home)], unique: [["home.city"]], rules: [try rule("home.city.length < 9")])
        #expect(problems(person).isEmpty)
        let typo = entity("Person", [.attribute(home)], rules: [try rule("home.town.length < 9")])
        #expect(problems(typo) == ["Person.home.town.length is unknown, in a validation predicate."])
    }

    // MARK: Coercion

    @Test func numbersAreCoercedWhenNothingIsLost() {
        #expect(AttributeValue.integer(3).coerced(to: .double) == .double(3))
        #expect(AttributeValue.integer((1 << 53) + 1).coerced(to: .double) == nil)
        #expect(AttributeValue.integer(70_000).coerced(to: .integer16) == nil)
        #expect(AttributeValue.integer(-32_768).coerced(to: .integer16) == .integer(-32_768))
        #expect(AttributeValue.double(3).coerced(to: .integer32) == .integer(3))
        #expect(AttributeValue.double(3.5).coerced(to: .integer32) == nil)
        #expect(AttributeValue.double(.nan).coerced(to: .integer64) == nil)
        #expect(AttributeValue.double(1e300).coerced(to: .integer64) == nil)
        #expect(AttributeValue.double(0.1).coerced(to: .float) == .float(0.1))
        #expect(AttributeValue.double(1e300).coerced(to: .float) == nil)
        #expect(AttributeValue.double(.infinity).coerced(to: .float) == .float(.infinity))
        #expect(AttributeValue.float(0.5).coerced(to: .double) == .double(0.5))
        #expect(AttributeValue.integer(.max).coerced(to: .decimal) == .decimal(Decimal(Int64.max)))
        #expect(AttributeValue.decimal(Decimal(Int64.min)).coerced(to: .integer64) == .integer(.min))
        #expect(AttributeValue.decimal(Decimal(string: "9223372036854775808") ?? 0).coerced(to: .integer64) == nil)
        #expect(AttributeValue.decimal(Decimal(string: "1.5") ?? 0).coerced(to: .integer64) == nil)
        #expect(AttributeValue.decimal(.nan).coerced(to: .integer64) == nil)
        #expect(AttributeValue.decimal(Decimal(string: "1.5") ?? 0).coerced(to: .double) == .double(1.5))
        #expect(AttributeValue.double(0.1).coerced(to: .decimal) == .decimal(Decimal(string: "0.1") ?? 0))
        #expect(AttributeValue.double(.infinity).coerced(to: .decimal) == nil)
        #expect(AttributeValue.double(-.leastNonzeroMagnitude).coerced(to: .decimal) == nil)
    }

    @Test func otherKindsAreNotGuessed() {
        #expect(AttributeValue.string("1").coerced(to: .integer16) == nil)
        #expect(AttributeValue.integer(1).coerced(to: .string) == nil)
        #expect(AttributeValue.integer(1).coerced(to: .boolean) == .boolean(true))
        #expect(AttributeValue.integer(2).coerced(to: .boolean) == nil)
        #expect(AttributeValue.boolean(true).coerced(to: .integer16) == .integer(1))
        #expect(AttributeValue.date(.now).coerced(to: .double) == nil)
        for type in AttributeType.allCases { #expect(AttributeValue.null.coerced(to: type) == .null) }
    }
}

private struct OneObject: ExpressionContext {
    let values: [String: AttributeValue]

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        .one(values[key] ?? .null)
    }
}
