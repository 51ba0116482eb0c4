import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct InheritanceTests {
    @Test func subentitiesHaveTheirParentsProperties() throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let employee = Employee(context: context)
        employee.name = "Ann"
        employee.salary = 100
        let person = Person(context: context)
        person.name = "Bob"
        person.boss = employee
        employee.friends.insert(person)
        #expect(Array(employee.reports) == [person])
        try context.save()
        let other = container.newBackgroundContext()
        let persons = try other.fetch(FetchRequest<Person>())
        #expect(persons.count == 2 && persons.contains { $0 is Employee })
        #expect(try other.fetch(FetchRequest<Employee>()).map(\.salary) == [100])
        var request = FetchRequest<Person>()
        request.includesSubentities = false
        #expect(try other.fetch(request).map(\.name) == ["Bob"])
        let bob = try other.existingObject(with: person.objectID, as: Person.self)
        #expect((bob.boss as? Employee)?.salary == 100)
        #expect(bob.friends.first is Employee)
        let wrong = thrownError { _ = try other.existingObject(with: person.objectID, as: Employee.self) }
        #expect(wrong?.code == .wrongType)
    }

    @Test func predicatesAndOrdersWorkThroughTheGraph() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let ann = FamilyMember(context: context), bob = FamilyMember(context: context)
        ann.name = "Ann"
        bob.name = "Bob"
        for (title, rating, owner) in [("C", 1.0, ann), ("A", 5.0, bob), ("B", 3.0, ann)] {
            let movie = Movie(context: context)
            movie.title = title
            movie.rating = rating
            movie.familyMember = owner
        }
        try context.save()
        let byTitle = try FetchRequest<Movie>(sortedBy: [SortDescription(\Movie.title)])
        #expect(try context.fetch(byTitle).map(\.title) == ["A", "B", "C"])
        let anns = try FetchRequest<Movie>(
            where: .equal("familyMember.name", "Ann"), sortedBy: [SortDescription("title")])
        #expect(try context.fetch(anns).map(\.title) == ["B", "C"])
        // The far end of a key path, changed and not saved.
        ann.name = "Anna"
        #expect(try context.fetch(anns).isEmpty)
        bob.name = "Ann"
        #expect(try context.fetch(anns).map(\.title) == ["A"])
        var saved = anns
        saved.includesPendingChanges = false
        #expect(try context.fetch(saved).map(\.title) == ["B", "C"])
        let limited = try FetchRequest<Movie>(
            where: .greaterThan("rating", 1), sortedBy: [SortDescription(\Movie.rating, isAscending: false)], limit: 1)
        #expect(try context.fetch(limited).map(\.title) == ["A"])
        #expect(thrownError { _ = try FetchRequest<Movie>(where: .equal("nothing", 1)) }?.code == .unknownKey)
        var wrong = limited
        wrong.predicate = .equal("nothing", 1)
        #expect(thrownError { _ = try context.fetch(wrong) }?.code == .unknownKey)
        #expect(thrownError { _ = try context.fetch(FetchRequest<Movie>(entityName: "No")) }?.code == .unknownEntity)
    }

    @Test func manyFetchesAmongManyChangesStayRight() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        var movies: [Movie] = []
        for number in 0..<300 {
            let movie = Movie(context: context)
            movie.title = "\(number)"
            movies.append(movie)
            #expect(try context.count(for: FetchRequest<Movie>(where: .equal("title", .string("\(number)")))) == 1)
            if number % 7 == 0 { movies[number / 2].title = "changed \(number)" }
        }
        #expect(try context.count(for: FetchRequest<Movie>(where: .beginsWith("title", "changed"))) == 43)
        context.delete(movies[0])
        #expect(try context.count(for: FetchRequest<Movie>()) == 299)
        try context.save()
        #expect(try context.count(for: FetchRequest<Movie>()) == 299)
    }
}
