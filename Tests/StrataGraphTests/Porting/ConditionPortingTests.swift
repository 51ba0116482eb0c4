import Foundation
import StrataGraph
import StrataModel
import Testing

/// One table of conditions in every place where a context finds objects: what is stored, what is not saved yet, what a
/// parent has, and values in memory.
@Suite(.verifiesStores) struct ConditionPortingTests {
    private static let lines: [(entity: String, condition: String, expected: String)] = {
        var entity = ""
        return portedConditions.split(separator: "\n").compactMap { line in
            guard !line.hasPrefix("entity ") else {
                entity = String(line.dropFirst(7))
                return nil
            }
            let parts = line.components(separatedBy: " ⇒").map { $0.trimmingCharacters(in: .whitespaces) }
            return (entity, parts[0], parts[1])
        }
    }()

    private func check(_ context: ManagedObjectContext, evaluates: Bool = true) throws {
        for line in Self.lines {
            #expect(found(line, in: context) == line.expected, "\(line.entity): \(line.condition)")
            guard evaluates, line.expected != "refused" else { continue }
            let predicate = try FetchPredicate(format: line.condition)
            let met = try context.find(line.entity).filter { try predicate.evaluate(with: $0) }
            #expect(try names(met) == line.expected, "\(line.entity): \(line.condition)")
        }
    }

    private func found(
        _ line: (entity: String, condition: String, expected: String), in context: ManagedObjectContext
    ) -> String {
        do {
            return try names(context.find(line.entity, line.condition))
        } catch {
            return (error as? StrataError).map { line.expected == "refused" ? "refused" : $0.message } ?? "\(error)"
        }
    }

    private func names(_ objects: [ManagedObject]) throws -> String {
        try objects.map { try $0.text() ?? "-" }.sorted().joined(separator: ",")
    }

    private func container() throws -> PersistentContainer { try Porting.container(PortedLibrary.entities) }

    @Test func conditionsOnWhatIsStored() throws {
        let context = try container().newBackgroundContext()
        try PortedLibrary.fill(context)
        try context.save()
        try check(context)
    }

    @Test func conditionsOnWhatIsNotSaved() throws {
        let context = try container().newBackgroundContext()
        try PortedLibrary.fill(context)
        try check(context)
    }

    @Test func conditionsOnWhatAParentHas() throws {
        let context = try container().newBackgroundContext()
        try PortedLibrary.fill(context)
        try check(context.newChildContext(), evaluates: false)
    }

    @Test func conditionsOnChangedObjects() throws {
        let context = try container().newBackgroundContext()
        let made = try PortedLibrary.fill(context, pages: 1)
        try context.save()
        for object in made.values where object.entity.name == "Book" {
            let pages = try #require(try object.value(forKey: "pages") as? Int32)
            try object.setValue(pages * 100, forKey: "pages")
        }
        try check(context)
    }

    @Test func conditionsOnThePast() throws {
        let container = try container()
        let context = container.newBackgroundContext()
        let made = try PortedLibrary.fill(context)
        try context.save()
        let moment = try container.head()
        for object in made.values { context.delete(object) }
        try context.save()
        try check(container.context(asOf: .event(moment)), evaluates: false)
    }

    @Test func conditionsWithObjectsAsArguments() throws {
        let context = try container().newBackgroundContext()
        let made = try PortedLibrary.fill(context)
        try context.save()
        func expect(_ entity: String, _ condition: String, _ arguments: [(any FetchArgument)?], _ expected: String)
            throws
        {
            #expect(try names(context.find(entity, condition, arguments)) == expected, "\(condition)")
        }
        let (ann, bob) = (try #require(made["Ann"]), try #require(made["bob"]))
        try expect("Book", "author == %@", [ann], "Alpha,Beta")
        try expect("Book", "author != %@", [ann], "Delta,Gamma")
        try expect("Book", "author IN %@", [[ann, bob]], "Alpha,Beta,Gamma")
        try expect("Book", "NOT (author IN %@)", [[ann, bob]], "Delta,alphabet,Été")
        try expect("Book", "author.mentor.mentor == %@", [ann], "Delta")
        try expect("Book", "%@ IN fans", [ann], "Delta,Gamma")
        try expect("Book", "NOT (fans CONTAINS %@)", [bob], "Alpha,Beta,Delta,alphabet,Été")
        try expect("Book", "ANY fans IN %@", [[bob]], "Gamma")
        try expect("Author", "ANY friends == %@", [ann], "bob,Çelik")
        try expect("Author", "self IN %@", [[ann]], "Ann")
        try expect(
            "Author", "born >= %@ AND born < %@",
            [
                PortedLibrary.newYear, PortedLibrary.newYear.addingTimeInterval(86_400),
            ], "Ann")
        try expect("Author", "key == %@", [PortedLibrary.key], "Ann")
        try expect("Author", "%K.%K == %@", ["spouse", "name", "Ann"], "bob")
    }
}
