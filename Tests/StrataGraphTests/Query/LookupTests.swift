import Foundation
import StrataGraph
import StrataModel
import Testing

/// `object(_:where:is:)` gives the first object that a request with the same condition gives.
@Suite(.verifiesStores) struct LookupTests {
    private func movie(_ title: String, in context: ManagedObjectContext) -> Movie {
        let movie = Movie(context: context)
        movie.title = title
        return movie
    }

    /// The lookup and the request, asked twice, since the first lookup prepares the others.
    private func found(_ title: String, in context: ManagedObjectContext) throws -> ObjectID? {
        let wanted = try context.fetch(FetchRequest<Movie>(where: .equal("title", .string(title)))).first
        for _ in 0..<3 { #expect(try context.object(Movie.self, where: \.title, is: title) === wanted, "\(title)") }
        return wanted?.objectID
    }

    @Test func aLookupFollowsTheContext() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        #expect(try found("A", in: context) == nil)
        let first = movie("A", in: context)
        let second = movie("A", in: context)
        #expect(try found("A", in: context) == first.objectID)
        try context.save()
        #expect(try found("A", in: context) == first.objectID && found("B", in: context) == nil)
        // Of unsaved changes.
        first.title = "B"
        #expect(try found("A", in: context) == second.objectID && found("B", in: context) == first.objectID)
        context.delete(second)
        #expect(try found("A", in: context) == nil)
        // Another context does not see them, and a child sees its own besides.
        let other = container.newBackgroundContext()
        #expect(try found("A", in: other) == first.objectID && found("B", in: other) == nil)
        let child = try context.newChildContext()
        #expect(try found("B", in: child) == first.objectID)
        let third = movie("C", in: child)
        #expect(try found("C", in: child) == third.objectID && found("C", in: context) == nil)
        let moment = context.eventNumber
        try context.save()
        #expect(try found("A", in: context) == nil && found("B", in: context) == first.objectID)
        // The other stays at its moment until it moves; the past stays for ever.
        #expect(try found("A", in: other) == first.objectID)
        other.refreshAllObjects()
        #expect(try found("A", in: other) == nil)
        #expect(try found("A", in: try container.context(asOf: .event(moment))) == first.objectID)
    }

    @Test func aContextThatMergesByItselfSeesTheNewestState() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        #expect(try found("A", in: context) == nil)
        let other = container.newBackgroundContext()
        let added = movie("A", in: other)
        try other.save()
        #expect(try found("A", in: context) == added.objectID)
    }

    /// Keys of long texts are cut in the index, so rows decide between them.
    @Test func aLongTextIsFound() throws {
        let context = try makeContainer().newBackgroundContext()
        let long = String(repeating: "x", count: 3000)
        let movies = ["a", "b", ""].map { movie(long + $0, in: context) }
        try context.save()
        for (movie, end) in zip(movies, ["a", "b", ""]) {
            #expect(try found(long + end, in: context) == movie.objectID)
        }
        #expect(try found(long + "c", in: context) == nil)
    }

    /// No index has these attributes; the objects of a subentity are found too, and those of others are not.
    @Test func attributesOfSubentitiesAreFound() throws {
        let context = try makeContainer(graphEntities).newBackgroundContext()
        let (person, employee) = (Person(context: context), Employee(context: context))
        (person.name, employee.name, employee.salary) = ("Ann", "Ben", 12.5)
        let passport = Passport(context: context)
        (passport.number, passport.holder) = ("P1", employee)
        for _ in 0..<2 {
            #expect(try context.object(Person.self, where: \.name, is: "Ben") === employee)
            #expect(try context.object(Employee.self, where: \.name, is: "Ben") === employee)
            #expect(try context.object(Employee.self, where: \.name, is: "Ann") == nil)
            #expect(try context.object(Employee.self, where: \.salary, is: 12.5) === employee)
            #expect(try context.object(where: \Passport.number, is: "P1") === passport)
            #expect(try context.object(where: \Passport.number, is: "P2") == nil)
            try context.save()
        }
    }

    @Test func everyKindOfAttributeIsFound() throws {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: "Color")
        let context = try makeContainer([Kinds.self] + graphEntities).newBackgroundContext()
        let (one, two) = (Kinds(context: context), Kinds(context: context))
        for object in [one, two] {
            (object.medium, object.large, object.plain, object.single, object.double, object.money) = (1, 1, 1, 1, 1, 1)
            object.text = "one"
        }
        (one.flag, one.flagOrNil, one.small, one.single, one.moneyOrNil) = (false, true, 3, 0.1, 0.1)
        (one.date, one.id) = (Date(timeIntervalSinceReferenceDate: 1000.5), UUID())
        (one.mood, one.moodOrNil, one.priority) = (.wild, .calm, .high)
        try context.save()
        let (date, id) = (try #require(one.date), try #require(one.id))
        for _ in 0..<2 {
            #expect(try context.object(Kinds.self, where: \.flag, is: false) === one)
            #expect(try context.object(Kinds.self, where: \.flagOrNil, is: true) === one)
            #expect(try context.object(Kinds.self, where: \.small, is: 3) === one)
            #expect(try context.object(Kinds.self, where: \.single, is: 0.1) === one)
            #expect(try context.object(Kinds.self, where: \.moneyOrNil, is: 0.1) === one)
            #expect(try context.object(Kinds.self, where: \.date, is: date) === one)
            #expect(try context.object(Kinds.self, where: \.id, is: id) === one)
            #expect(try context.object(Kinds.self, where: \.mood, is: .wild) === one)
            #expect(try context.object(Kinds.self, where: \.moodOrNil, is: .calm) === one)
            #expect(try context.object(Kinds.self, where: \.priority, is: .high) === one)
        }
        #expect(try context.object(Kinds.self, where: \.small, is: -7) === two)
    }

    @Test func anEncryptedAttributeIsFound() throws {
        let context = try makePatients().newBackgroundContext()
        let patients = ["1", "2"].map { number in
            let patient = Patient(context: context)
            (patient.name, patient.ssn) = ("Ann", number)
            return patient
        }
        try context.save()
        for _ in 0..<3 {
            #expect(try context.object(Patient.self, where: \.ssn, is: "2") === patients[1])
            #expect(try context.object(Patient.self, where: \.ssn, is: "3") == nil)
        }
    }

    @Test func whatIsNoAttributeIsRefused() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = movie("A", in: context)
        let refusal = thrownError { _ = try context.object(Movie.self, where: \.objectID, is: movie.objectID) }
        #expect(refusal?.code == .invalidRequest)
        container.close()
        #expect(thrownError { _ = try context.object(Movie.self, where: \.title, is: "A") }?.code == .storeClosed)
    }
}
