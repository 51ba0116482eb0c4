import Foundation
import Strata
import Testing

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
        let customer = held.customer
        var request = try BatchDeleteRequest<Invoice>().where { $0.number < 10 }
        request.stepSize = 4
        let result = try context.execute(request)
        #expect(result.count == 9 && result.transactionCount == 3)
        #expect(try numbers { $0.number > 0 } == Array(10...20))
        #expect(!customer.isEmpty && held.customer == customer && held.isDeleted)
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
