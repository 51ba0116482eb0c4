public import StrataGraph
import StrataModel

/// One context among several that reads, changes, links, deletes, saves, merges and travels as its seed says.
///
/// It belongs to one thread; what it saw is checked against the log when all are done.
public struct RaceWorker {
    public private(set) var report = RaceReport()
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private var random: SeededGenerator
    private var counter = 0
    private let name: String

    public init(_ container: PersistentContainer, seed: UInt64, name: String) {
        self.container = container
        self.name = name
        context = container.newBackgroundContext()
        context.name = name
        random = SeededGenerator(seed: seed)
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    /// Does one piece of work.
    public mutating func step() throws {
        counter += 1
        switch chance(12) {
        case 0, 1, 2: try transfer()
        case 3: try label()
        case 4, 5: try note()
        case 6: try relink()
        case 7: try deleteNote()
        case 8: try look()
        case 9: try lookTwice()
        case 10: try travel()
        default: context.refreshAllObjects()
        }
        // A worker that stays where it is reads the same for ever; now and then it goes on.
        if chance(3) == 0 { context.refreshAllObjects() }
    }

    // MARK: Work

    private mutating func account() throws -> ManagedObject {
        var request = FetchRequest<ManagedObject>(entityName: "Account")
        request.sortDescriptors = [SortDescription("number")]
        let accounts = try context.fetch(request)
        return accounts[chance(accounts.count)]
    }

    private mutating func anyNote() throws -> ManagedObject? {
        let notes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
        return notes.isEmpty ? nil : notes[chance(notes.count)]
    }

    /// A read-modify-write of two objects: the sum stays, and each success leaves two hits.
    private mutating func transfer() throws {
        let (from, to) = (try account(), try account())
        guard from !== to else { return }
        let amount = Int64(chance(5) + 1)
        for (account, change) in [(from, -amount), (to, amount)] {
            let balance = try account.value(forKey: "balance") as? Int64 ?? 0
            let hits = try account.value(forKey: "hits") as? Int64 ?? 0
            try account.setValue(balance + change, forKey: "balance")
            try account.setValue(hits + 1, forKey: "hits")
        }
        if try save() { report.transfers += 1 }
    }

    /// Another property of objects that others change: never a conflict with a transfer.
    private mutating func label() throws {
        try account().setValue("\(name) \(counter)", forKey: "label")
        _ = try save()
    }

    private mutating func note() throws {
        let note = try context.insertNewObject(forEntityName: "Note")
        try note.setValue("\(name) \(counter)", forKey: "text")
        try note.setValue(try account(), forKey: "account")
        _ = try save()
    }

    private mutating func relink() throws {
        guard let note = try anyNote() else { return }
        try note.setValue(try account(), forKey: "account")
        _ = try save()
    }

    private mutating func deleteNote() throws {
        guard let note = try anyNote() else { return }
        context.delete(note)
        _ = try save()
    }

    /// - Returns: false when others were first; then the changes are dropped.
    private mutating func save() throws -> Bool {
        do {
            try saveOutOfDoubt()
            return true
        } catch let error as StrataError where error.code == .merge || error.code == .constraintMerge {
            report.refusals += 1
            context.rollback()
            context.refreshAllObjects()
            return false
        }
    }

    /// A save in doubt is repeated until it is known.
    private func saveOutOfDoubt() throws {
        for _ in 0..<1000 {
            do { return try context.save() } catch let error as StrataError where error.code == .inDoubt {}
        }
        try context.save()
    }

    // MARK: Reading

    private mutating func look() throws {
        let eventNumber = context.eventNumber
        let state = try RaceWorld.state(context)
        report.sights.append(.init(eventNumber: eventNumber.rawValue, state: state))
        if context.eventNumber != eventNumber { report.problems.append("\(name): a read moved the context") }
    }

    /// The same moment again, with fresh objects, whatever the others did meanwhile.
    private mutating func lookTwice() throws {
        let eventNumber = context.eventNumber
        let first = try RaceWorld.state(context)
        let again = try RaceWorld.state(try container.context(asOf: .event(eventNumber)))
        let second = try RaceWorld.state(context)
        report.sights.append(.init(eventNumber: eventNumber.rawValue, state: second))
        if first != second || first != again {
            report.problems.append("\(name): \(eventNumber) reads as \(first), \(again), \(second)")
        }
    }

    private mutating func travel() throws {
        guard !report.sights.isEmpty else { return }
        let sight = report.sights[chance(report.sights.count)]
        let past = try container.context(asOf: .event(EventNumber(rawValue: sight.eventNumber)))
        let state = try RaceWorld.state(past)
        if state != sight.state {
            report.problems.append("\(name): \(sight.eventNumber) was \(sight.state), is \(state)")
        }
    }
}
