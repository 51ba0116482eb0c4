import Foundation
import StrataGraph
import StrataModel

/// The flights in Strata, asked through a context.
final class StrataFlights {
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init(at url: URL, count: Int) throws {
        container = try PersistentContainer(name: "flights", model: Self.model(), at: .url(url))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
        let carriers = try insert("Carrier", Flights.carriers.map { ["name": .string($0)] })
        let airports = try insert("Airport", Flights.airports.map { ["name": .string($0)] })
        for first in stride(from: 0, to: count, by: 10_000) {
            _ = try insert(
                "Flight",
                Flights.rows(first..<min(count, first + 10_000)).map { row in
                    [
                        "month": .integer(Int64(row.month)), "day": .integer(Int64(row.day)),
                        "hour": .integer(Int64(row.hour)), "delay": row.delay.map(AttributeValue.double) ?? .null,
                        "distance": .integer(Int64(row.distance)), "tail": .string(row.tail),
                        "carrier": .objectID(carriers[row.carrier]),
                        "destination": .objectID(airports[row.destination]),
                    ]
                })
        }
    }

    private static func model() throws -> ManagedObjectModel {
        func number(_ name: String) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .integer32))
        }
        func toOne(_ name: String, _ destination: String) -> PropertyDescription {
            .relationship(
                RelationshipDescription(name: name, destinationEntityName: destination, inverseName: "flights"))
        }
        func owner(_ name: String, _ inverse: String) -> EntityDescription {
            EntityDescription(
                name: name,
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "flights", destinationEntityName: "Flight", inverseName: inverse, isToMany: true)),
                ])
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Flight",
                properties: [
                    number("month"), number("day"), number("hour"), number("distance"),
                    .attribute(AttributeDescription(name: "delay", type: .double, isOptional: true)),
                    .attribute(AttributeDescription(name: "tail", type: .string)), toOne("carrier", "Carrier"),
                    toOne("destination", "Airport"),
                ]),
            owner("Carrier", "carrier"), owner("Airport", "destination"),
        ])
    }

    private func insert(_ entity: String, _ rows: [[String: AttributeValue]]) throws -> [ObjectID] {
        var request = BatchInsertRequest<ManagedObject>(entityName: entity, rows)
        request.resultType = .objectIDs
        return try context.execute(request).objectIDs
    }

    /// The values of the answer's rows, one row after the other.
    func run(_ query: FlightQuery, airport: String) throws -> [AttributeValue] {
        if query == .anyFlight {
            let predicate = FetchPredicate.any("flights.destination.name", .equalTo, .string(airport))
            return try context.fetch(FetchRequest<ManagedObject>(entityName: "Carrier", where: predicate)).map {
                AttributeValue.string(try $0.value(forKey: "name") as? String ?? "")
            }
        }
        var request = RowsFetchRequest(entityName: "Flight", columns: query.columns)
        request.groupBy = query.keys.map(\.path)
        return try context.fetchRows(request).values
    }
}

/// The flights in SQLite.
final class SQLiteFlights {
    private let database: SQLiteDatabase
    private var statements: [FlightQuery: SQLiteDatabase.Statement] = [:]

    init(path: String, count: Int) throws {
        database = try SQLiteDatabase(path: path)
        try database.run(
            """
            CREATE TABLE carrier (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE airport (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE flight (id INTEGER PRIMARY KEY, month INTEGER NOT NULL, day INTEGER NOT NULL,
                hour INTEGER NOT NULL, distance INTEGER NOT NULL, delay REAL, tail TEXT NOT NULL,
                carrier INTEGER NOT NULL REFERENCES carrier, destination INTEGER NOT NULL REFERENCES airport);
            CREATE INDEX flight_carrier ON flight (carrier);
            CREATE INDEX flight_destination ON flight (destination);
            """)
        try database.run("BEGIN")
        for (table, names) in [("carrier", Flights.carriers), ("airport", Flights.airports)] {
            let statement = try database.prepare("INSERT INTO \(table) VALUES (?1, ?2)")
            for (number, name) in names.enumerated() {
                statement.bind(1, number)
                statement.bind(2, name)
                try statement.forEach { _ in }
            }
        }
        let known = try database.prepare("INSERT INTO flight VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        let cancelled = try database.prepare("INSERT INTO flight VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?7, ?8, ?9)")
        for (number, row) in Flights.rows(0..<count).enumerated() {
            let statement = row.delay == nil ? cancelled : known
            for (place, value) in [number, row.month, row.day, row.hour, row.distance].enumerated() {
                statement.bind(Int32(place + 1), value)
            }
            if let delay = row.delay { statement.bind(6, delay) }
            statement.bind(7, row.tail)
            statement.bind(8, row.carrier)
            statement.bind(9, row.destination)
            try statement.forEach { _ in }
        }
        try database.run("COMMIT")
        try database.run("ANALYZE")
        for query in FlightQuery.allCases { statements[query] = try database.prepare(query.sql) }
    }

    /// The values of the answer's rows as text, one row after the other.
    func run(_ query: FlightQuery, airport: String) throws -> [String?] {
        guard let statement = statements[query] else { return [] }
        if query == .anyFlight { statement.bind(1, airport) }
        var values: [String?] = []
        try statement.forEach { row in
            for column in 0..<Int32(query.width) { values.append(row.isNull(column) ? nil : row.text(column)) }
        }
        return values
    }
}
