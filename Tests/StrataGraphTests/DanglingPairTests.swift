import Foundation
import LMDB
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Stores that an earlier version migrated: their many-to-manys have members of an entity that has left the model.
struct DanglingPairTests {
    private let pairs = DanglingPairs()
    private typealias Pairs = DanglingPairs

    @Test func verificationNamesThemAndReadersPassOverThem() throws {
        #expect(try pairs.make() == 4)
        let reading = try pairs.container(false, isReadOnly: true)
        try reading.loadPersistentStores()
        defer { reading.close() }
        let report = try reading.store.verify()
        #expect(report.isSound && report.goneLinkCount == 4, "\(report)")
        let context = reading.newBackgroundContext()
        for key in ["things", "likes"] { #expect(try Pairs.names(Pairs.owner(context), key) == ["Kept"]) }
        let kept = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Kept")).first)
        #expect(try Pairs.names(kept, "friends").isEmpty)
        // Nothing is reported by the next fetch.
        #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Base")).count == 1)
    }

    @Test func openingForWritingUnlinksThem() throws {
        let count = try pairs.make()
        let new = try pairs.container(false)
        let head = try withLoaded(new) { context in
            let events = try #require(try new.transactions().last)
            #expect(events.lastEvent.rawValue - events.firstEvent.rawValue + 1 == UInt64(count))
            #expect(events.contextName == "mending")
            #expect(try new.store.verify().goneLinkCount == 0)
            let owner = try Pairs.owner(context)
            for key in ["things", "likes"] { #expect(try Pairs.names(owner, key) == ["Kept"]) }
            var counting = FetchRequest<ManagedObject>(entityName: "Owner")
            counting.predicate = try FetchPredicate(format: "things.@count == 1 AND likes.@count == 1")
            #expect(try context.count(for: counting) == 1)
            try owner.setValue(Set<ManagedObject>(), forKey: "things")
            try context.save()
            #expect(try new.store.rebuild().isUnchanged)
            return try new.head()
        }
        #expect(try withLoaded(new) { _ in try new.head() } == head)
    }

    /// Another process writes for longer than an opening waits.
    @Test func aStoreOpensAlsoWhereTheyCannotBeUnlinked() throws {
        _ = try pairs.make()
        let lock = open(pairs.url.appending(path: "writer.lock").path, O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let waiting = try pairs.container(false, timeout: .milliseconds(200))
        try waiting.loadPersistentStores()
        let context = waiting.newBackgroundContext()
        #expect(try Pairs.names(Pairs.owner(context), "things") == ["Kept"])
        waiting.close()
        try #require(flock(lock, LOCK_UN) == 0)
        let free = try pairs.container(false)
        let last = try withLoaded(free) { _ in try free.transactions().last?.contextName }
        #expect(last == "mending")
    }

    /// The entity returns, and with it the links.
    @Test func aModelThatHasTheEntityAgainKeepsThem() throws {
        _ = try pairs.make()
        try withLoaded(pairs.container(true)) { context in
            let things = try Pairs.names(Pairs.owner(context), "things")
            #expect(things == ["Gone", "Kept"])
        }
    }

    /// The entity returns after an opening has unlinked them.
    @Test func theyReturnWithTheEntityAfterTheyWereUnlinked() throws {
        _ = try pairs.make()
        let new = try pairs.container(false)
        let unlinked = try withLoaded(new) { context in
            let mending = try #require(try new.transactions().last)
            #expect(try Pairs.names(Pairs.owner(context), "things") == ["Kept"])
            return mending
        }
        let back = try pairs.container(true)
        try withLoaded(back) { context in
            let before = EventNumber(rawValue: unlinked.firstEvent.rawValue - 1)
            for context in try [context, back.context(asOf: .event(before)), back.context(asOf: .now)] {
                let owner = try Pairs.owner(context)
                for key in ["things", "likes"] { #expect(try Pairs.names(owner, key) == ["Gone", "Kept"]) }
                let gone = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Gone")).first)
                #expect(try Pairs.names(gone, "friends") == ["Gone", "Kept"] && Pairs.names(gone, "owners") == ["Ann"])
            }
            #expect(try back.store.rebuild().isUnchanged)
        }
    }

    // MARK: A shared log

    /// The first node that opens unlinks them for all.
    @Test func aNodeOfASharedLogUnlinksThem() throws {
        let log = MemoryLog()
        let pairs = DanglingPairs(log.connection())
        #expect(try pairs.make() == 4)
        let first = try pairs.container(false)
        let head = try withLoaded(first) { _ in
            #expect(try first.transactions().last?.contextName == "mending")
            return try first.head()
        }
        let second = try pairs.container(false, named: pairs.url.lastPathComponent + "-second")
        defer { try? FileManager.default.removeItem(atPath: pairs.url.path + "-second") }
        try withLoaded(second) { context in
            let owner = try Pairs.owner(context)
            #expect(try second.head() == head)
            for key in ["things", "likes"] { #expect(try Pairs.names(owner, key) == ["Kept"]) }
        }
    }

    /// Nodes that open at the same time unlink each of them once.
    @Test func nodesThatOpenAtOnceUnlinkThemOnce() async throws {
        let log = MemoryLog()
        let pairs = DanglingPairs(log.connection())
        _ = try pairs.make()
        let names = (0..<3).map { "\(pairs.url.lastPathComponent)-\($0)" }
        defer {
            for name in names {
                try? FileManager.default.removeItem(at: pairs.url.deletingLastPathComponent().appending(path: name))
            }
        }
        let nodes = try names.map { try pairs.container(false, named: $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { try node.loadPersistentStores() } }
            try await group.waitForAll()
        }
        for node in nodes {
            try node.catchUp()
            let unlinked = try node.transactions().filter { $0.contextName == "mending" }
            #expect(unlinked.count == 1)
            #expect(try node.verify().isSound)
        }
        #expect(try Set(nodes.map { try $0.head() }).count == 1)
        for node in nodes { node.close() }
    }

    // MARK: The past

    private func expectReadsWithout(_ context: ManagedObjectContext, _ place: Comment) throws {
        let owner = try Pairs.owner(context)
        for key in ["things", "likes"] { #expect(try Pairs.names(owner, key) == ["Kept"], place) }
        let kept = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Kept")).first)
        #expect(try Pairs.names(kept, "friends").isEmpty && Pairs.names(kept, "owners") == ["Ann"], place)
        #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Base")).count == 1, place)
        let answers = [
            ("Owner", "ANY things.name == 'Kept'"), ("Owner", "NONE things.name == 'Gone'"),
            ("Owner", "SUBQUERY(things, $t, $t.name != 'x').@count == 1"), ("Kept", "ANY owners.name == 'Ann'"),
        ]
        for (entity, format) in answers {
            var request = FetchRequest<ManagedObject>(entityName: entity)
            request.predicate = try FetchPredicate(format: format)
            #expect(try context.count(for: request) == 1, "\(place): \(format)")
        }
    }

    private func expectCountedWithout(_ context: ManagedObjectContext, _ place: Comment) throws {
        let answers = [
            "things.@count == 1", "likes.@count == 1", "things.@count < 2", "ALL things.name == 'Kept'",
            "NONE things.name == nil", "NOT (ANY things.name == nil)",
            "things.owners.@count == 1", "SUBQUERY(things, $t, $t.friends.@count == 0).@count == 1",
            "name == 'Ann' AND things.@max.name == 'Kept'",
        ]
        for format in answers {
            var request = FetchRequest<ManagedObject>(entityName: "Owner")
            request.predicate = try FetchPredicate(format: format)
            #expect(try context.count(for: request) == 1, "\(place): \(format)")
        }
        var friends = FetchRequest<ManagedObject>(entityName: "Kept")
        for format in ["friends.@count == 0", "NOT (friends.@count > 0)"] {
            friends.predicate = try FetchPredicate(format: format)
            #expect(try context.count(for: friends) == 1, "\(place): \(format)")
        }
        let owner = try Pairs.owner(context)
        #expect(try owner.objectIDs(forRelationshipNamed: "things").count == 1, place)
    }

    /// A store that is only read keeps them, and so does one that could not be written when it was opened.
    @Test func whatCountsMembersPassesOverThem() throws {
        _ = try pairs.make()
        let reading = try pairs.container(false, isReadOnly: true)
        try reading.loadPersistentStores()
        try expectCountedWithout(reading.newBackgroundContext(), "read only")
        try expectCountedWithout(reading.context(asOf: .event(try reading.head())), "read only, of now")
        reading.close()
        let tool = BuiltProgram("strata")
        let shown = try tool.run(["show", pairs.url.path, "Owner/p1"])
        let members = shown.output.split(separator: "\n").filter { $0.contains("things") || $0.contains("likes") }
        #expect(members.count == 2 && members.allSatisfy { $0.contains("1 ") }, "\(shown)")
        let counted = try tool.run(["count", pairs.url.path, "Owner", "--where", "things.@count == 1"])
        #expect(counted.output == "1\n", "\(counted)")
        let lock = open(pairs.url.appending(path: "writer.lock").path, O_RDWR)
        try #require(flock(lock, LOCK_EX) == 0)
        let waiting = try pairs.container(false, timeout: .milliseconds(200))
        defer { waiting.close() }
        try waiting.loadPersistentStores()
        close(lock)
        let context = waiting.newBackgroundContext()
        try expectCountedWithout(context, "not mended")
        // Deleting the owner removes all of its links.
        context.delete(try Pairs.owner(context))
        try context.save()
        let report = try waiting.store.verify()
        #expect(report.isSound && report.goneLinkCount == 2, "\(report)")
    }

    /// The state that has them shows the same as the one from which they were removed.
    @Test func momentsReadAsIfTheyWereGone() throws {
        _ = try pairs.make()
        let reading = try pairs.container(false, isReadOnly: true)
        try reading.loadPersistentStores()
        try expectReadsWithout(reading.newBackgroundContext(), "read only")
        let before = try reading.head()
        reading.close()
        let new = try pairs.container(false)
        try withLoaded(new) { context in
            try expectReadsWithout(context, "mended")
            try expectReadsWithout(new.context(asOf: .event(before)), "before it was mended")
            // What counts members agrees with what lists them.
            let formats = [
                "things.@count == 1", "likes.@count == 1", "ALL things.name == 'Kept'", "NONE things.name == nil",
                "NOT (ANY things.name == nil)",
            ]
            for context in try [context, new.context(asOf: .event(before))] {
                for format in formats {
                    var request = FetchRequest<ManagedObject>(entityName: "Owner")
                    request.predicate = try FetchPredicate(format: format)
                    #expect(try context.count(for: request) == 1, "\(format)")
                }
            }
        }
    }

    /// Copies of the store, and of the state that has them, are as sound as others.
    @Test func backupsAndReplaysHaveThem() throws {
        _ = try pairs.make()
        let tool = BuiltProgram("strata")
        let path = pairs.url.path
        func expectDone(_ words: String..., place: String) throws {
            let result = try tool.run(words)
            #expect(result.exitCode == 0, "\(words): \(result)")
            let made = try tool.run(["verify", place])
            #expect(made.exitCode == 0, "\(words): \(made)")
        }
        let names = ["backup", "restored", "replayed", "saved", "target", "shipped"]
        defer { for name in names { try? FileManager.default.removeItem(atPath: "\(path).\(name)") } }
        let found = try tool.run(["verify", path])
        #expect(found.exitCode == 0 && found.output.contains("4 links to objects whose entity has left"), "\(found)")
        let exported = try tool.run(["export", path, "Owner"])
        #expect(exported.exitCode == 0 && !exported.output.contains("Gone"), "\(exported)")
        try expectDone("backup", path, path + ".backup", place: path + ".backup")
        try expectDone("restore", path + ".backup", path + ".restored", place: path + ".restored")
        try expectDone("replay", path, "--into", path + ".replayed", place: path + ".replayed")
        try expectDone("doctor", path, "--into", path + ".saved", place: path + ".saved")
        try expectDone("ship", path, path + ".target", place: path)
        try expectDone("restore", path + ".target", path + ".shipped", place: path + ".shipped")
        try expectDone("compact", path, place: path)
        try expectDone("rebuild", path, place: path)
    }

    /// Nothing that is taken from the past brings them back.
    @Test func whatIsTakenFromThePastHasNone() throws {
        _ = try pairs.make()
        let new = try pairs.container(false)
        try withLoaded(new) { context in
            let mending = try #require(try new.transactions().last)
            let before = EventNumber(rawValue: mending.firstEvent.rawValue - 1)
            let owner = try Pairs.owner(context)
            try owner.setValue("Bea", forKey: "name")
            try owner.setValue(Set<ManagedObject>(), forKey: "things")
            try context.save()
            try context.restore(owner.objectID, at: before)
            #expect(try Pairs.names(owner, "things") == ["Kept"])
            try context.save()
            #expect(thrownError { try context.revert(mending.number) }?.code == .merge)
            #expect(try Pairs.names(owner, "things") == ["Kept"] && Pairs.names(owner, "likes") == ["Kept"])
            if context.hasChanges { try context.save() }
            #expect(try new.store.rebuild().isUnchanged)
        }
    }
}
