import Foundation
import Strata
import Testing

private let isNotOverpaid = FetchPredicate.comparison(
    ComparisonPredicate(.keyPath("total"), .greaterThanOrEqualTo, .keyPath("paid")))

@Entity(.check(isNotOverpaid, message: "More is paid than is owed."))
final class Invoice: ManagedObject {
    @Attribute(.unique) var number: Int = 0
    @Attribute(.length(1...20)) var customer: String
    var total: Double = 0
    var paid: Double = 0
    var note: String?
    var region: Region?
    @Attribute(.externalStorage) var scan: Data?
}

@Entity final class Region: ManagedObject {
    @Attribute(.unique) var code: String
    @Relationship(inverse: \Invoice.region) var invoices: ToMany<Invoice>
    @Relationship(.ordered, deleteRule: .cascade) var offices: ToMany<Office>
}

@Entity final class Office: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Region.offices) var region: Region?
    @Relationship(deleteRule: .deny) var staff: ToMany<Clerk>
}

@Entity final class Clerk: ManagedObject {
    @Relationship(inverse: \Office.staff) var office: Office?
}

let invoiceEntities: [ManagedObject.Type] = [Invoice.self, Region.self, Office.self, Clerk.self]

@Suite struct BatchInsertTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeOpenContainer(invoiceEntities)
        context = container.newBackgroundContext()
    }

    private func invoices() throws -> [Invoice] {
        try context.fetch(FetchRequest<Invoice>().sorted(by: \.number))
    }

    @Test func rowsBecomeObjectsWithTheDefaultsOfTheModel() throws {
        var request = BatchInsertRequest<Invoice>([
            ["number": 1, "customer": "Ann", "total": 10], ["number": 2, "customer": "Bob"],
        ])
        request.resultType = .objectIDs
        let result = try context.execute(request)
        #expect(result.count == 2 && result.transactionCount == 1)
        let found = try invoices()
        #expect(found.map(\.customer) == ["Ann", "Bob"] && found.map(\.total) == [10, 0])
        #expect(found.map(\.objectID) == result.objectIDs)
    }

    @Test func aHandlerFillsRowsUntilItSaysThatItIsDone() throws {
        var numbers = (1...25).makeIterator()
        var request = BatchInsertRequest<Invoice> { row in
            guard let number = numbers.next() else { return true }
            row[\.number] = number
            row[\.customer] = "Customer \(number)"
            row[\.note] = number % 2 == 0 ? nil : "odd"
            return false
        }
        request.stepSize = 10
        let result = try context.execute(request)
        #expect(result.count == 25 && result.transactionCount == 3 && result.objectIDs.isEmpty)
        #expect(try context.count(for: FetchRequest<Invoice>().where { $0.note == nil }) == 12)
    }

    @Test func anAsyncSequenceIsInsertedStepByStep() async throws {
        let rows = AsyncStream<[String: AttributeValue]> { stream in
            for number in 1...25 { stream.yield(["number": .integer(Int64(number)), "customer": "A"]) }
            stream.finish()
        }
        var request = BatchInsertRequest<Invoice>()
        request.stepSize = 10
        let result = try await context.execute(request, rows: rows)
        #expect(result.count == 25 && result.transactionCount == 3)
        #expect(try invoices().count == 25)
    }

    @Test func aRowThatBreaksARuleIsNamedAndNothingOfItsStepIsSaved() throws {
        var request = BatchInsertRequest<Invoice>([
            ["number": 1, "customer": "Ann"], ["number": 2, "customer": ""], ["number": 3],
            ["number": 4, "customer": "Bob"],
        ])
        let error = try #require(throws: StrataError.self) { try context.execute(request) }
        #expect(error.code == .validationMultipleErrors)
        #expect(error.details.map(\.code) == [.validationStringTooShort, .validationMissingMandatoryProperty])
        #expect(error.details.first?.message == "Row 1: customer is too short.")
        #expect(error.details.last?.message == "Row 2: customer is required.")
        #expect(try invoices().isEmpty)
        request.stepSize = 1
        #expect(throws: StrataError.self) { try context.execute(request) }
        #expect(try invoices().map(\.number) == [1])
    }

    @Test func thePredicatesOfTheEntityHold() throws {
        let error = try #require(throws: StrataError.self) {
            try context.execute(BatchInsertRequest<Invoice>([["number": 1, "customer": "A", "paid": 1]]))
        }
        #expect(error.code == .managedObjectValidation && error.message == "Row 0: More is paid than is owed.")
    }

    @Test(
        arguments: [
            (["nummer": 1], "unknownKey"), (["number": "one"], "wrongType"), (["number": 1.5], "wrongType"),
            (["region": 3], "wrongType"),
        ] as [([String: AttributeValue], String)])
    func aWrongValueIsRefused(row: [String: AttributeValue], code: String) throws {
        let error = try #require(throws: StrataError.self) { try context.execute(BatchInsertRequest<Invoice>([row])) }
        #expect(error.code.name == code, "\(error)")
    }

    @Test func aTransformableTakesItsValue() throws {
        let container = try makeOpenContainer([Photo.self])
        let context = container.newBackgroundContext()
        let url = try #require(URL(string: "https://example.org/1.jpg"))
        var photoIDs = ["1", "2"][...]
        let request = BatchInsertRequest<Photo> { row in
            guard let photoID = photoIDs.popFirst() else { return true }
            row[\.photoID] = photoID
            row[\.remoteURL] = photoID == "1" ? url : nil
            return false
        }
        #expect(try context.execute(request).count == 2)
        let byID = try FetchRequest<Photo>().sorted(by: \.photoID)
        #expect(try context.fetch(byID).map(\.remoteURL) == [url, nil])
        let wrong = BatchInsertRequest<Photo>([["photoID": "3", "remoteURL": "no address"]])
        let error = try #require(throws: StrataError.self) { try context.execute(wrong) }
        #expect(error.code == .transformation && error.context.key == "remoteURL")
    }

    @Test func toManysAndOneToOnesAreRefused() throws {
        let error = try #require(throws: StrataError.self) {
            try context.execute(BatchInsertRequest<Region>([["code": "A", "invoices": .null]]))
        }
        #expect(error.code == .invalidRequest)
    }

    @Test func toOnesAreGivenById() throws {
        let region = Region(context: context)
        region.code = "N"
        try context.save()
        let rows = (1...3).map { number -> [String: AttributeValue] in
            ["number": .integer(Int64(number)), "customer": "A", "region": .objectID(region.objectID)]
        }
        try context.execute(BatchInsertRequest<Invoice>(rows))
        #expect(Set(region.invoices.map(\.number)) == [1, 2, 3])
        // In an ordered to-many each stands behind the one before.
        let names = ["b", "a", "c"]
        for _ in 0..<2 {
            try context.execute(
                BatchInsertRequest<Office>(
                    names.map { ["name": .string($0), "region": .objectID(region.objectID)] }))
        }
        #expect(region.offices.map(\.name) == names + names)
    }

    @Test func aToOneToNothingIsRefused() throws {
        let region = Region(context: context)
        region.code = "N"
        try context.save()
        let id = region.objectID
        context.delete(region)
        try context.save()
        let error = try #require(throws: StrataError.self) {
            try context.execute(
                BatchInsertRequest<Invoice>([["number": 1, "customer": "A", "region": .objectID(id)]]))
        }
        #expect(error.code == .referentialIntegrity && error.context.key == "region")
    }

    @Test func largeValuesGoToFilesAndComeBack() throws {
        let scan = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try context.execute(BatchInsertRequest<Invoice>([["number": 1, "customer": "A", "scan": .data(scan)]]))
        #expect(try invoices().first?.scan == scan)
    }

    @Test func theLogSaysWhoInsertedAndOthersHearOfIt() throws {
        let other = container.newBackgroundContext()
        #expect(try other.count(for: FetchRequest<Invoice>()) == 0)
        let before = context.eventNumber
        context.transactionAuthor = "importer"
        context.name = "batch"
        try context.execute(BatchInsertRequest<Invoice>([["number": 1, "customer": "A"]]))
        #expect(context.eventNumber > before)
        // A context stands where it stood until it moves on.
        #expect(try other.count(for: FetchRequest<Invoice>()) == 0)
        other.refreshAllObjects()
        #expect(try other.count(for: FetchRequest<Invoice>()) == 1)
        let past = try container.context(asOf: .event(before))
        #expect(try past.count(for: FetchRequest<Invoice>()) == 0)
    }

    @Test func aReadOnlyContextInsertsNothing() throws {
        let past = try container.context(asOf: .event(context.eventNumber))
        let error = try #require(throws: StrataError.self) {
            try past.execute(BatchInsertRequest<Region>([["code": "A"]]))
        }
        #expect(error.code == .readOnly)
    }
}

/// What becomes of rows whose unique values are taken.
@Suite struct UpsertTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let old: Invoice

    init() throws {
        container = try makeOpenContainer(invoiceEntities)
        context = container.newBackgroundContext()
        old = Invoice(context: context)
        old.number = 1
        old.customer = "Ann"
        old.total = 10
        old.note = "old"
        try context.save()
    }

    private let rows: [[String: AttributeValue]] = [
        ["number": 1, "customer": "Anna", "paid": 5], ["number": 2, "customer": "Bob", "total": 7],
    ]

    private func all() throws -> [Invoice] { try context.fetch(FetchRequest<Invoice>().sorted(by: \.number)) }

    @Test func whatIsWrongInTheStepBeforeComesFirst() throws {
        // The second step's rows are refused while the first is written, which is refused too.
        let rows: [[String: AttributeValue]] = [["number": 1, "customer": "Anna"], ["number": 2, "customer": ""]]
        var request = BatchInsertRequest<Invoice>(rows)
        request.stepSize = 1
        let error = try #require(throws: StrataError.self) { try context.execute(request) }
        #expect(error.code == .constraintMerge)
        #expect(try all().count == 1)
    }

    @Test func rejectIsTheDefaultAndSavesNothing() throws {
        let rows: [[String: AttributeValue]] = [["number": 2, "customer": "Bob"], ["number": 1, "customer": "Anna"]]
        let error = try #require(throws: StrataError.self) { try context.execute(BatchInsertRequest<Invoice>(rows)) }
        #expect(error.code == .constraintMerge)
        #expect(try all().map(\.customer) == ["Ann"])
    }

    @Test func keepLeavesTheObjectAlone() throws {
        let before = context.eventNumber
        var request = BatchInsertRequest<Invoice>(rows, onClash: .keep)
        request.resultType = .objectIDs
        let result = try context.execute(request)
        #expect(result.keptCount == 1 && result.count == 1 && result.mergedCount == 0)
        #expect(result.objectIDs.first == old.objectID)
        #expect(try all().map(\.customer) == ["Ann", "Bob"])
        #expect(old.note == "old" && context.eventNumber > before)
        // Again there is nothing to do, and nothing is written.
        let after = context.eventNumber
        #expect(try context.execute(request).keptCount == 2)
        #expect(context.eventNumber == after)
    }

    @Test func mergeChangesWhatIsGiven() throws {
        let result = try context.execute(BatchInsertRequest<Invoice>(rows, onClash: .merge))
        #expect(result.mergedCount == 1 && result.count == 2)
        #expect(try all().map(\.objectID).first == old.objectID)
        #expect(old.customer == "Anna" && old.paid == 5 && old.total == 10 && old.note == "old")
    }

    @Test func replaceChangesEveryAttribute() throws {
        var rows = rows
        rows[0]["total"] = 6
        try context.execute(BatchInsertRequest<Invoice>(rows, onClash: .replace))
        #expect(old.customer == "Anna" && old.paid == 5 && old.total == 6 && old.note == nil)
    }

    @Test func aMergedRowNeedOnlySayWhatIsNew() throws {
        try context.execute(BatchInsertRequest<Invoice>([["number": 1, "paid": 3]], onClash: .merge))
        #expect(old.customer == "Ann" && old.paid == 3)
        // As an object of its own it lacks its customer.
        let error = try #require(throws: StrataError.self) {
            try context.execute(BatchInsertRequest<Invoice>([["number": 3, "paid": 0]], onClash: .merge))
        }
        #expect(error.code == .validationMissingMandatoryProperty && error.message == "Row 0: customer is required.")
    }

    @Test func whatIsNewMustKeepThePredicatesOfTheEntityWhateverThePolicy() throws {
        for policy in [UniquenessPolicy.merge, .replace, .keep] {
            #expect(throws: StrataError.self) {
                try context.execute(
                    BatchInsertRequest<Invoice>([["number": 9, "customer": "Z", "paid": 30]], onClash: policy))
            }
        }
    }

    @Test func whatIsMergedMustKeepThePredicatesOfTheEntity() throws {
        let error = try #require(throws: StrataError.self) {
            try context.execute(BatchInsertRequest<Invoice>([["number": 1, "paid": 30]], onClash: .merge))
        }
        #expect(error.message == "More is paid than is owed." && error.context.objectID == old.objectID)
        #expect(old.paid == 0)
    }

    @Test(arguments: UniquenessPolicy.allCases)
    func rowsOfOneStepMeetEachOtherToo(policy: UniquenessPolicy) throws {
        let rows: [[String: AttributeValue]] = [
            ["number": 5, "customer": "first", "note": "n"], ["number": 5, "customer": "second"],
        ]
        let request = BatchInsertRequest<Invoice>(rows, onClash: policy)
        if policy == .reject {
            #expect(throws: StrataError.self) { try context.execute(request) }
            return
        }
        try context.execute(request)
        let found = try #require(try context.fetch(FetchRequest<Invoice>().where { $0.number == 5 }).first)
        #expect(try all().count == 2)
        #expect(found.customer == (policy == .keep ? "first" : "second"))
        #expect(found.note == (policy == .replace ? nil : "n"))
    }

    @Test func itIsDecidedWhenTheRowIsWritten() throws {
        // Another context takes the number after this one last looked.
        let other = container.newBackgroundContext()
        let theirs = Invoice(context: other)
        theirs.number = 2
        theirs.customer = "Theirs"
        try other.save()
        let result = try context.execute(BatchInsertRequest<Invoice>(rows, onClash: .merge))
        #expect(result.mergedCount == 2)
        other.refreshAllObjects()
        #expect(theirs.customer == "Bob" && theirs.total == 7)
    }
}

@Suite struct BatchUpdateAndDeleteTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeOpenContainer(invoiceEntities)
        context = container.newBackgroundContext()
        try context.execute(
            BatchInsertRequest<Invoice>(
                (1...20).map {
                    ["number": .integer($0), "customer": "C", "total": .double(Double($0)), "note": "n"]
                }))
    }

    private func numbers(_ condition: (ObjectExpression<Invoice>) -> ValueExpression<Bool>) throws -> [Int] {
        try context.fetch(FetchRequest<Invoice>().where(condition).sorted(by: \.number)).map(\.number)
    }

    @Test func constantsAreSetWhereTheConditionHolds() throws {
        let held = try #require(try context.fetch(FetchRequest<Invoice>().where { $0.number == 3 }).first)
        #expect(held.note == "n")
        var request = try BatchUpdateRequest<Invoice>().where { $0.number <= 5 }.setting(\.note, to: nil)
        request.resultType = .objectIDs
        request.stepSize = 2
        let result = try context.execute(request)
        #expect(result.count == 5 && result.transactionCount == 3 && result.objectIDs.contains(held.objectID))
        #expect(try numbers { $0.note == nil } == [1, 2, 3, 4, 5])
        #expect(held.note == nil)
    }

    @Test func expressionsSpeakOfTheObjectAsItWas() throws {
        let request = try BatchUpdateRequest<Invoice>().where { $0.number > 18 }
            .setting(\.total) { $0.total * 2 + 1 }
            .setting(\.paid) { $0.total }
        #expect(try context.execute(request).count == 2)
        let found = try context.fetch(FetchRequest<Invoice>().where { $0.number > 18 }.sorted(by: \.number))
        #expect(found.map(\.total) == [39, 41] && found.map(\.paid) == [19, 20])
    }

    @Test func theRulesHold() throws {
        let missing = try #require(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Invoice>(setting: ["customer": .constant(.null)]))
        }
        #expect(missing.details.count == 20)
        #expect(missing.details.allSatisfy { $0.code == .validationMissingMandatoryProperty })
        let predicate = try #require(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Invoice>().where { $0.number == 3 }.setting(\.paid, to: 4))
        }
        #expect(predicate.message == "More is paid than is owed.")
        let unique = try #require(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Invoice>().setting(\.number, to: 7))
        }
        #expect(unique.code == .constraintMerge)
        #expect(try numbers { $0.paid == 0 }.count == 20)
    }

    @Test func nothingToSetIsRefused() throws {
        #expect(throws: StrataError.self) { try context.execute(BatchUpdateRequest<Invoice>()) }
        let unknown = try #require(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Invoice>(setting: ["nota": .constant("x")]))
        }
        #expect(unknown.code == .unknownKey)
    }

    @Test func aChangeThatWasNotSavedIsMergedWithABatch() throws {
        let held = try #require(try context.fetch(FetchRequest<Invoice>().where { $0.number == 3 }).first)
        held.customer = "Mine"
        try context.execute(BatchUpdateRequest<Invoice>().setting(\.note, to: "theirs"))
        try context.save()
        #expect(held.customer == "Mine" && held.note == "theirs")
    }

    @Test func whatMatchesIsDeletedInSteps() throws {
        let held = try #require(try context.fetch(FetchRequest<Invoice>().where { $0.number == 3 }).first)
        var request = try BatchDeleteRequest<Invoice>().where { $0.number < 10 }
        request.stepSize = 4
        let result = try context.execute(request)
        #expect(result.count == 9 && result.transactionCount == 3)
        #expect(try numbers { $0.number > 0 } == Array(10...20))
        #expect(held.customer == "" && held.isDeleted)
        let past = try container.context(asOf: .event(EventNumber(rawValue: context.eventNumber.rawValue - 9)))
        #expect(try past.count(for: FetchRequest<Invoice>()) == 20)
    }

    @Test func theDeleteRulesHold() throws {
        let region = Region(context: context)
        region.code = "N"
        let office = Office(context: context)
        office.region = region
        let invoice = try #require(try context.fetch(FetchRequest<Invoice>().where { $0.number == 3 }).first)
        invoice.region = region
        try context.save()
        let result = try context.execute(BatchDeleteRequest<Region>([region.objectID]))
        #expect(result.count == 2)
        #expect(invoice.region == nil && invoice.customer == "C")
        #expect(try context.count(for: FetchRequest<Office>()) == 0)
    }

    @Test func aDenialIsAnErrorThatNamesTheObject() throws {
        let office = Office(context: context)
        let clerk = Clerk(context: context)
        clerk.office = office
        try context.save()
        let error = try #require(throws: StrataError.self) {
            try context.execute(BatchDeleteRequest<Office>([office.objectID]))
        }
        #expect(error.code == .validationRelationshipDeniedDelete && error.context.objectID == office.objectID)
        #expect(try context.count(for: FetchRequest<Office>()) == 1)
        // The one that is in the way goes too.
        try context.execute(BatchDeleteRequest<Clerk>())
        #expect(try context.execute(BatchDeleteRequest<Office>()).count == 1)
    }

    @Test func idsOfAnotherEntityAreRefusedAndThoseOfTheGonePassedOver() throws {
        let ids = try context.fetchObjectIDs(FetchRequest<Invoice>())
        #expect(throws: StrataError.self) { try context.execute(BatchDeleteRequest<Region>(ids)) }
        try context.execute(BatchDeleteRequest<Invoice>(Array(ids.prefix(5))))
        #expect(try context.execute(BatchDeleteRequest<Invoice>(ids)).count == 15)
    }
}
