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
