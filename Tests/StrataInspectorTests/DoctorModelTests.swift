import Foundation
import StrataModel
import StrataStore
import Testing

/// A model whose installation is lost with the damaged part of the log is taken from the views.
@Suite struct DoctorModelTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private var new: String { store.path + ".new" }

    private func withStore<R>(_ model: ManagedObjectModel?, _ body: (Store) throws -> R) throws -> R {
        let store = try Store.open(.directory(store.directory), model: model)
        defer { store.close() }
        return try body(store)
    }

    /// Flips a bit in the record of the transaction that an event belongs to.
    private func damage(transactionOf event: UInt64) throws {
        let id = try withStore(nil) { try $0.transaction(containing: EventNumber(rawValue: event))?.id }
        let mark = try withUnsafeBytes(of: #require(id).uuid) { Data($0) }
        try #require(store.flip(everywhere: mark) > 0)
    }

    private static let columns = "title,year,rating,studio.name,genres.@count"

    private func films(_ path: String, _ columns: String = columns) throws -> String {
        let result = try Tool.run(
            "query", path, "Film", "--columns", columns, "--sort", "year", "--format", "csv")
        #expect(result.exitCode == 0, "\(result)")
        return result.output
    }

    /// FilmStore's model with one attribute more.
    private static func larger(_ name: String) throws -> ManagedObjectModel {
        var entities = try FilmStore.model().entities
        let index = try #require(entities.firstIndex { $0.name == "Film" })
        entities[index].properties.append(
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true)))
        return try ManagedObjectModel(entities: entities)
    }

    private func expectSound() throws {
        let verified = try Tool.run("verify", new)
        #expect(verified.exitCode == 0, "\(verified)")
        // New objects get numbers of their own.
        let inserted = try Tool.run("insert", new, "Film", "title=New", "year=2020", "rating=1")
        #expect(inserted.exitCode == 0, "\(inserted)")
        #expect(try films(new).split(separator: "\n").count == 6)
    }

    @Test func everythingComesBackWhereTheFirstTransactionIsLost() throws {
        let before = try films(store.path)
        try damage(transactionOf: 1)
        let result = try Tool.run("doctor", store.path, "--into", new)
        #expect(result.exitCode == 1 && result.error.isEmpty, "\(result)")
        #expect(result.output.hasPrefix("no transaction is sound\ntransaction 1: "), "\(result)")
        #expect(
            result.output.hasSuffix("added from after the damage, without their history: 8 objects, 4 links\n"),
            "\(result)")
        #expect(try films(new) == before)
        try expectSound()
    }

    /// Two models more, and objects of the newest.
    ///
    /// - Returns: the films then.
    private func migrateTwice() throws -> String {
        for name in ["color", "colour"] { try withStore(try Self.larger(name)) { _ in } }
        let updated = try Tool.run("update", store.path, "Film", "colour=grey", "--where", "year < 1980", "--all")
        #expect(updated.exitCode == 0, "\(updated)")
        let films = try films(store.path, Self.newColumns)
        #expect(films.contains("grey"))
        return films
    }

    private static let newColumns = columns + ",colour"

    @Test func objectsOfTheNewestOfSeveralModelsComeBack() throws {
        let before = try migrateTwice()
        try damage(transactionOf: 1)
        #expect(try Tool.run("doctor", store.path, "--into", new).exitCode == 1)
        #expect(try films(new, Self.newColumns) == before)
        try expectSound()
    }

    @Test func aModelBehindTheFaultIsTakenWithItsObjects() throws {
        let before = try migrateTwice()
        // The last event of the films is the fifteenth; the models and the update follow.
        try damage(transactionOf: 16)
        let result = try Tool.run("doctor", store.path, "--into", new)
        #expect(result.output.hasPrefix("the log is sound through transaction 5, event 15"), "\(result)")
        #expect(try films(new, Self.newColumns) == before)
        #expect(try Tool.run("query", new, "Film", "--at", "t5", "--columns", "title", "--format", "csv").exitCode == 0)
        try expectSound()
    }
}
