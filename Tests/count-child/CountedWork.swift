import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// The work, and what it took.
final class CountedWork {
    private let container: PersistentContainer
    private var counts: [String: Double] = [:]
    private var owners: [ObjectID] = []
    private var movies: [ObjectID] = []
    private static let inserts = 2_000
    private static let ownerCount = 100

    init(directory: URL) throws {
        container = PersistentContainer(
            name: "Counts", model: try CountModel.make(),
            at: .url(directory.appending(path: "counts.strata", directoryHint: .isDirectory)))
        try container.loadPersistentStores()
    }

    func run() throws -> [String: Double] {
        try insert()
        try smallSaves()
        try reading()
        try queries()
        try following()
        try deleting()
        container.close()
        return counts
    }

    // MARK: Counting

    /// Pages and syncs of one commit.
    private func count(_ name: String, _ body: () throws -> Void) throws {
        let before = (bytes: fault_written_bytes(), syncs: fault_syncs())
        try body()
        counts["\(name): pages written"] = Double((fault_written_bytes() - before.bytes) / 4096)
        counts["\(name): syncs"] = Double(fault_syncs() - before.syncs)
    }

    /// Requests for memory by one of `operations`.
    private func countAllocations(_ name: String, _ operations: Int, _ body: () throws -> Void) rethrows {
        let before = fault_allocations()
        try body()
        counts["\(name): allocations"] = (Double(fault_allocations() - before) / Double(operations)).rounded()
    }

    private func tableBytes(isView: Bool) throws -> Double {
        let tables = try container.store.statistics().tables
        let isCounted = { (name: String) in isView ? true : ["events", "transactions"].contains(name) }
        return Double(
            tables.filter { $0.isView == isView && isCounted($0.name) }.reduce(0) { $0 + $1.sizeInBytes })
    }

    // MARK: Saving

    private func movie(_ number: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
        let movie = try context.insertNewObject(forEntityName: "Movie")
        // A multiplicative order: values come neither sorted nor at random.
        let mixed = number * 7_919 % 100_003
        try movie.setValue("Movie \(mixed)", forKey: "title")
        try movie.setValue(1900 + mixed % 130, forKey: "year")
        try movie.setValue(Double(mixed % 5_000) / 1000, forKey: "rating")
        try movie.setValue(mixed, forKey: "votes")
        try movie.setValue(context.object(with: owners[number % owners.count]), forKey: "owner")
        return movie
    }

    /// The writer leases the next row numbers in a commit of its own, soon after half of the first 4,096 are used. Here
    /// that happens before the commit of the owners, which waits for it, and not in the middle of what is counted.
    private func passFirstHalfOfLease() throws {
        let scrap = container.newBackgroundContext()
        for _ in 0..<2_048 { _ = try scrap.insertNewObject(forEntityName: "Owner") }
    }

    private func insert() throws {
        let context = container.newBackgroundContext()
        try passFirstHalfOfLease()
        for number in 0..<Self.ownerCount {
            let owner = try context.insertNewObject(forEntityName: "Owner")
            try owner.setValue("Owner \(number)", forKey: "name")
            owners.append(owner.objectID)
        }
        try context.save()
        let (log, views) = (try tableBytes(isView: false), try tableBytes(isView: true))
        try countAllocations("an insert, made and saved", Self.inserts) {
            for number in 0..<Self.inserts { movies.append(try movie(number, context).objectID) }
            try count("save of 2,000 inserts") { try context.save() }
        }
        counts["an insert: bytes of log"] = (try tableBytes(isView: false) - log) / Double(Self.inserts)
        counts["an insert: bytes of views"] = (try tableBytes(isView: true) - views) / Double(Self.inserts)
        let rows = (Self.inserts..<2 * Self.inserts).map { number in
            let mixed = number * 7_919 % 100_003
            return [
                "title": AttributeValue.string("Movie \(mixed)"), "year": .integer(Int64(1900 + mixed % 130)),
                "rating": .double(Double(mixed % 5_000) / 1000), "votes": .integer(Int64(mixed)),
                "owner": .objectID(owners[number % owners.count]),
            ]
        }
        let fresh = container.newBackgroundContext()
        try countAllocations("a row of a batch insert", Self.inserts) {
            try count("batch insert of 2,000") {
                try fresh.execute(BatchInsertRequest<ManagedObject>(entityName: "Movie", rows))
            }
        }
        counts["batch insert of 2,000: objects made"] = Double(fresh.registeredObjects.count)
    }

    private func smallSaves() throws {
        let context = container.newBackgroundContext()
        // The first save of a context also asks for numbers of new rows; the second shows what one costs.
        _ = try movie(5_000, context)
        try context.save()
        let made = try movie(5_001, context)
        try count("save of one insert") { try context.save() }
        try made.setValue(4.5, forKey: "rating")
        try count("save of one update, indexed") { try context.save() }
        try made.setValue(7, forKey: "votes")
        try count("save of one update, not indexed") { try context.save() }
        try made.setValue(context.object(with: owners[2]), forKey: "owner")
        try count("save of one link") { try context.save() }
        context.delete(made)
        try count("save of one deletion") { try context.save() }
        try count("save of nothing") { try context.save() }
    }

    // MARK: Reading

    private func reading() throws {
        let context = container.newBackgroundContext()
        let movie = try context.existingObject(with: movies[3])
        counts["existing object: objects made"] = Double(context.registeredObjects.count)
        _ = try movie.value(forKey: "owner")
        counts["and its to-one: objects made"] = Double(context.registeredObjects.count)
        withExtendedLifetime(movie) {}
        let faults = container.newBackgroundContext()
        try countAllocations("a fault by id, one attribute", 1_000) {
            for id in movies.prefix(1_000) { _ = try faults.existingObject(with: id).value(forKey: "year") }
        }
        try countAllocations("a hot read", 1_000) {
            for _ in 0..<1_000 { _ = try movie.value(forKey: "year") }
        }
        let other = container.newBackgroundContext()
        let owner = try other.existingObject(with: owners[7])
        let members = try owner.value(forKey: "movies")
        counts["owner and 40 members: objects made"] = Double(other.registeredObjects.count)
        withExtendedLifetime((owner, members)) {}
    }

    // MARK: Queries

    private func queries() throws {
        try query("indexed equality", "title == 'Movie 7919'")
        try query("range of 100 in order", "rating >= 2", sortedBy: "rating", limit: 100)
        try query("two indexes", "year == 1950 AND rating > 4")
        try query("no index", "votes > 99000")
        try query("over a to-one", "owner.name == 'Owner 5'")
        let context = container.newBackgroundContext()
        var request = FetchRequest<ManagedObject>(entityName: "Movie")
        request.predicate = try FetchPredicate(format: "votes > 99000")
        _ = try context.count(for: request)
        counts["count without index: objects made"] = Double(context.registeredObjects.count)
    }

    private func query(_ name: String, _ format: String, sortedBy key: String? = nil, limit: Int = 0) throws {
        let context = container.newBackgroundContext()
        var request = FetchRequest<ManagedObject>(entityName: "Movie")
        request.predicate = try FetchPredicate(format: format)
        if let key { request.sortDescriptors = [SortDescription(key)] }
        if limit > 0 { request.fetchLimit = limit }
        let found = try context.fetch(request)
        counts["\(name): objects found"] = Double(found.count)
        counts["\(name): objects made"] = Double(context.registeredObjects.count)
        try countAllocations("\(name), again", 1) { _ = try context.fetch(request) }
        let plan = try context.explain(request)
        counts["\(name): rows of all steps"] = Double(plan.steps.dropFirst().reduce(0) { $0 + $1.rows })
    }

    // MARK: Children

    /// A child with 4,000 objects in memory goes on to what its parent has; the parent changed one of them.
    private func following() throws {
        let parent = container.newBackgroundContext()
        let child = try parent.newChildContext()
        let all = try child.fetch(FetchRequest<ManagedObject>(entityName: "Movie"))
        for movie in all { _ = try movie.value(forKey: "year") }
        counts["a child: objects in memory"] = Double(all.count)
        try parent.existingObject(with: movies[5]).setValue(3, forKey: "votes")
        countAllocations("a child's move to one change", 1) { child.refreshAllObjects() }
        counts["a child's move to one change: faults made"] = Double(all.count(where: \.isFault))
        countAllocations("a child's move to no change", 1) { child.refreshAllObjects() }
    }

    // MARK: Deleting

    private func deleting() throws {
        let context = container.newBackgroundContext()
        context.delete(try context.existingObject(with: owners[9]))
        counts["cascade over 40 movies: objects made"] = Double(context.registeredObjects.count)
        try count("save of a cascade over 40 movies") { try context.save() }
    }
}
