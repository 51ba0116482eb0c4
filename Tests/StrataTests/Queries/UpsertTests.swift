import Foundation
import Strata
import Testing

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
