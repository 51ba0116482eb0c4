import Foundation
import StrataGraph
import StrataModel

/// The story in seven steps; each prints what it does.
struct Story {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let path: String
    private let fixtures: String

    init(_ container: PersistentContainer, path: String, fixtures: String) {
        self.container = container
        self.path = path
        self.fixtures = fixtures
        context = container.newBackgroundContext()
        context.name = "demo"
        context.transactionAuthor = "newcomer"
    }

    func tell() throws {
        let start = try container.head()
        try importTwice()
        let tie = try fetchOne()
        let beforeWearing = try wear(tie)
        try rate(tie)
        try refuse(tie)
        try printLog(from: start)
        try travel(tie, to: beforeWearing)
        try rebuild()
        try goodbye(tie)
    }

    private func title(_ number: Int, _ text: String) { print("\n\(number). \(text)") }

    private func importTwice() throws {
        title(1, "Importing the ties of SampleData.plist")
        let sample = try SampleData(directory: URL(filePath: fixtures, directoryHint: .isDirectory))
        let first = try sample.importIfNeeded(into: context)
        print(first > 0 ? "   \(first) ties imported." : "   The ties are there from an earlier run: none imported.")
        let second = try sample.importIfNeeded(into: context)
        print("   A second import finds them: \(second) imported.")
    }

    private func fetchOne() throws -> BowTie {
        title(2, "Fetching the tie whose searchKey is \"R\"")
        let request = try FetchRequest<BowTie>().where { $0.searchKey == "R" }
        guard let tie = try context.fetch(request).first else {
            throw StrataError(.referentialIntegrity, "There is no tie with the searchKey R.")
        }
        print("   \(tie.name ?? "?"): \(Self.state(tie))")
        return tie
    }

    private static func state(_ tie: BowTie) -> String {
        let worn = tie.lastWorn.map { $0.formatted(.iso8601) } ?? "never"
        return "worn \(tie.timesWorn) times, last \(worn), rating \(tie.rating)"
    }

    private func wear(_ tie: BowTie) throws -> EventNumber {
        title(3, "Wearing it")
        let before = try container.head()
        tie.timesWorn += 1
        tie.lastWorn = Date()
        try context.save()
        print("   \(Self.state(tie))")
        return before
    }

    private func rate(_ tie: BowTie) throws {
        title(4, "Rating it")
        tie.rating = tie.rating == 4.5 ? 3.5 : 4.5
        try context.save()
        print("   \(Self.state(tie))")
    }

    private func refuse(_ tie: BowTie) throws {
        title(5, "Rating it 6, which no tie deserves")
        tie.rating = 6
        do {
            try context.save()
            print("   That was saved, and should not have been.")
        } catch let error as StrataError {
            print("   Refused with code \(error.code.rawValue): \(error.message)")
            print("   object: \(try container.uriRepresentation(of: tie.objectID))")
            print("   key:    \(error.context.key ?? "-")")
            print("   value:  \(error.context.value.map(Text.describe) ?? "-")")
            context.rollback()
            print("   Nothing was written; after rollback its rating is \(tie.rating).")
        }
    }

    private func printLog(from start: EventNumber) throws {
        title(6, "What the log recorded")
        let events = try container.events(
            from: EventNumber(rawValue: start.rawValue + 1), through: try container.head())
        for event in events {
            let object = event.objectID.map { "\(event.entityName ?? "?")/p\($0.row)" } ?? "the model"
            let head = "   \(event.eventNumber)  \(event.date.formatted(.iso8601))  \(event.author ?? "-")"
            print("\(head)  \(event.kind.rawValue) \(object)")
            let changes = event.kind == .inserted ? event.changes.filter { Text.isShort($0.after) } : event.changes
            for change in changes {
                print("        \(change.key): \(Text.describe(change.before)) -> \(Text.describe(change.after))")
            }
        }
    }

    private func travel(_ tie: BowTie, to eventNumber: EventNumber) throws {
        title(7, "The same tie as it was before it was worn, at event number \(eventNumber)")
        let past = try container.context(asOf: .event(eventNumber))
        let then = try past.existingObject(with: tie.objectID, as: BowTie.self)
        print("   then: \(Self.state(then))")
        print("   now:  \(Self.state(tie))")
    }

    private func rebuild() throws {
        title(8, "Dropping every view and making it again from the log")
        let report = try container.rebuildViews()
        for view in report.views {
            let mark = view.isEqual ? "equal" : "DIFFERENT"
            let name = view.name.padding(toLength: 15, withPad: " ", startingAt: 0)
            print("   \(name) \(view.entryCount) records  sha256 \(view.digestAfter.prefix(16))...  \(mark)")
        }
        print("   \(report.eventCount) events replayed; byte for byte equal: \(report.isUnchanged ? "yes" : "NO")")
        let verification = try container.verify()
        print("   verify: \(verification.isSound ? "sound" : "\(verification.problemCount) problems")")
    }

    private func goodbye(_ tie: BowTie) throws {
        let object = "BowTie/p\(tie.objectID.row)"
        print(
            """

            The store stays here: \(path)
            Five lines to try, without any of this program's code:

                bin/strata inspect \(path)
                bin/strata log \(path)
                bin/strata show \(path) \(object) --history
                bin/strata verify \(path)
                bin/strata rebuild \(path)
            """)
    }
}
