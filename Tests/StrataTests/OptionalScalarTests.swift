import Foundation
import Strata
import Testing

/// Numbers that the store may lack and the class does not, as Xcode generates them.
@Entity final class Tally: ManagedObject {
    var name: String = ""
    @Attribute(.optional, .indexed) var count: Int64
    @Attribute(.optional, .range((-5)...)) var weight: Double
    @Attribute(.optional) var isOpen: Bool
}

@Suite struct OptionalScalarTests {
    @Test func nilReadsAsZeroAndIsStillNilInTheStore() throws {
        let container = try makeOpenContainer([Tally.self])
        let description = try container.attribute("Tally", "count")
        #expect(description.isOptional && description.type == .integer64 && description.defaultValue == nil)
        let context = container.newBackgroundContext()
        let tally = Tally(context: context)
        #expect(tally.count == 0 && tally.weight == 0 && !tally.isOpen)
        try context.save()
        let other = container.newBackgroundContext()
        let read = try #require(try other.fetch(FetchRequest<Tally>()).first)
        #expect(read.count == 0 && read.weight == 0 && !read.isOpen)
        #expect(try read.value(forKey: "count") == nil)
        #expect(try other.count(for: FetchRequest<Tally>(where: try FetchPredicate(format: "count == nil"))) == 1)
        read.count = 3
        try read.setValue(nil, forKey: "weight")
        try other.save()
        #expect(try context.count(for: FetchRequest<Tally>(where: try FetchPredicate(format: "count == nil"))) <= 1)
        #expect(try other.fetch(FetchRequest<Tally>()).map(\.count) == [3])
    }
}
