import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// Opening over what is no whole store of this format: each kind has its own error, and nothing is touched.
@Suite struct OpeningTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(component: "opening-\(UUID().uuidString).strata")
    private var path: String { directory.path(percentEncoded: false) }
    private var data: URL { directory.appending(component: "data.mdb") }

    /// Expects the refusal of reading and of writing, and the directory to be as before, name for name and byte for
    /// byte.
    private func expectRefusal(_ code: StrataError.Code, _ words: String) throws {
        let before = try contents()
        for isReadOnly in [true, false] {
            var options = StoreOptions()
            options.isReadOnly = isReadOnly
            let error = #expect(throws: StrataError.self) {
                try Store.open(.directory(directory), model: isReadOnly ? nil : try MovieModel.make(), options: options)
            }
            #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
            #expect(error?.context.path?.hasPrefix(path) == true)
        }
        #expect(try contents() == before)
    }

    private func contents() throws -> [String: Data] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            // The table of readers is for everybody who looks.
            contents[name] = name == "lock.mdb" ? Data() : try Data(contentsOf: directory.appending(component: name))
        }
        return contents
    }

    private func makeStore() throws {
        let store = try Store.open(.directory(directory), model: try MovieModel.make())
        _ = try store.newObjectID(in: try #require(store.schema.entity(named: "Movie")).id)
        store.close()
    }

    private func makeDirectory() throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func write(_ bytes: Data) throws {
        try bytes.write(to: data)
        chmod(data.path(percentEncoded: false), 0o600)
    }

    private func remove() throws { try FileManager.default.removeItem(at: directory) }

    @Test func nothingThereIsSaidSo() throws {
        var options = StoreOptions()
        options.createsIfMissing = false
        for model in [nil, try MovieModel.make()] {
            let error = #expect(throws: StrataError.self) {
                try Store.open(.directory(directory), model: model, options: options)
            }
            #expect(error?.code == .persistentStoreOpen && error?.message == "There is no store.")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func anEmptyFileIsSaidToBeEmpty() throws {
        try makeDirectory()
        defer { try? remove() }
        try write(Data())
        try expectRefusal(.persistentStoreOpen, "is empty")
    }

    @Test func anotherKindOfFileIsSaidToBeNoStore() throws {
        try makeDirectory()
        defer { try? remove() }
        try write(Data("SQLite format 3\0".utf8) + Data(count: 8192))
        try expectRefusal(.persistentStoreOpen, "is not a store")
    }

    @Test func aStoreThatWasCutShortIsSaidToBe() throws {
        try makeStore()
        defer { try? remove() }
        let bytes = try Data(contentsOf: data)
        // The last pages may be free.
        try write(bytes.prefix(bytes.count / 8192 * 4096))
        try expectRefusal(.corrupt, "truncated")
    }

    @Test func aFileOfANewerLMDBIsSaidToBeNewer() throws {
        try makeStore()
        defer { try? remove() }
        var bytes = try Data(contentsOf: data)
        for page in 0...1 { bytes[page * 4096 + 20] = 2 }
        try write(bytes)
        try expectRefusal(.persistentStoreOpen, "newer format")
    }

    /// Puts a header of one's own into a store, as a newer version of Strata would.
    private func rewriteHeader(_ change: (inout [UInt8]) -> Void) throws {
        try makeStore()
        let environment = try Environment.open(at: path)
        let meta = try environment.openTables(["meta"])[0]
        try environment.write { transaction in
            var bytes = try StoreFile.withKey("header") { try transaction.get(meta, $0).map { Array($0) } } ?? []
            change(&bytes)
            try bytes.withUnsafeBytes { value in
                try StoreFile.withKey("header") { try transaction.put(meta, $0, value) }
            }
        }
        try environment.close()
    }

    @Test func aStoreOfANewerFormatIsSaidToBeNewer() throws {
        defer { try? remove() }
        try rewriteHeader { $0[12] = 200 }
        try expectRefusal(.persistentStoreOpen, "format 200")
    }

    @Test func aStoreWithSomethingNewIsSaidToBeNewer() throws {
        defer { try? remove() }
        try rewriteHeader { bytes in
            bytes[25] = 2
            Checksum.write(over: 12, at: 8, in: &bytes)
        }
        try expectRefusal(.persistentStoreOpen, "features of a newer version of Strata (flags 512)")
    }

    /// Its entries stay where a build without buffers, or one that removes entries at once, finds them, and its counters
    /// count them all.
    @Test(arguments: [UInt8(0), 1, 3]) func aStoreFromBeforeTheBuffersIsWrittenAsItWas(flags: UInt8) throws {
        defer { try? remove() }
        try rewriteHeader { bytes in
            #expect(bytes[24] == 7)
            bytes[24] = flags
            Checksum.write(over: 12, at: 8, in: &bytes)
        }
        var options = StoreOptions()
        options.bufferLimits = .eager
        let fixture = try StoreFixture(.directory(directory), options: options)
        let movies = try (0..<20).map { try fixture.insert("Movie", ["title": .string("film \($0)")]) }
        for movie in movies.prefix(10) { try fixture.delete(movie) }
        let owner = try fixture.insert("Owner", ["name": .string("owner")])
        for movie in movies.suffix(3) { try fixture.update(movie, ["owner": .objectID(owner)]) }
        #expect(try fixture.members("Owner", "movies", of: owner).count == 3)
        let movieLink = try fixture.property("Owner", "movies").id
        let counted = try fixture.store.file.environment.read { transaction in
            try CounterKey.members(movieLink, owner: owner).withBytes {
                try transaction.get(fixture.store.file.tables.counts, $0).map { try CounterKey.value($0) }
            }
        }
        #expect(counted == 3 && !fixture.store.file.tables.countsWait)
        #expect((fixture.store.file.tables.indexes.buffer == nil) == (flags == 0))
        #expect((fixture.store.file.tables.indexes.removals == nil) == (flags < 3))
        let tables = try fixture.store.statistics().tables
        #expect((tables.first { $0.name == "indexesBuffer" }?.entryCount == 0) == (flags == 0))
        let removals = tables.filter { $0.name.hasSuffix("Removals") }.map(\.entryCount)
        #expect(removals.count == 2 && (removals == [0, 0]) == (flags < 3))
        #expect(try fixture.store.verify(.full).isSound)
        fixture.store.close()
    }

    @Test func aDamagedHeaderIsSaidToBeDamaged() throws {
        defer { try? remove() }
        try rewriteHeader { $0[40] ^= 1 }
        try expectRefusal(.corrupt, "header is damaged")
    }

    @Test(arguments: [["other"], ["meta"], StoreTables.names])
    func somebodyElsesTablesAreLeftAlone(tables: [String]) throws {
        try makeDirectory()
        defer { try? remove() }
        let environment = try Environment.open(at: path)
        let opened = try environment.openTables(tables)
        try environment.write { try $0.put(opened[0], 1, UnsafeRawBufferPointer(start: nil, count: 0)) }
        try environment.close()
        for name in ["lock.mdb", "writer.lock"] {
            try FileManager.default.removeItem(at: directory.appending(component: name))
        }
        try expectRefusal(.persistentStoreOpen, "not a Strata store")
    }

    @Test(.enabled(if: geteuid() != 0, "nothing is forbidden to the superuser"))
    func aFileThatMayNotBeReadIsSaidSo() throws {
        try makeStore()
        defer { try? remove() }
        chmod(data.path(percentEncoded: false), 0)
        let error = #expect(throws: StrataError.self) {
            try Store.open(.directory(directory), model: try MovieModel.make())
        }
        #expect(error?.code == .persistentStoreOpen && error?.message.contains("may not be") == true)
    }

    @Test func aStoreWhoseMakingWasCutShortIsMadeToItsEnd() throws {
        // As a crash leaves it: the file alone, and the tables without a header.
        for tables in [[], StoreTables.names] {
            try makeDirectory()
            let environment = try Environment.open(at: path)
            _ = try environment.openTables(tables)
            try environment.close()
            let store = try Store.open(.directory(directory), model: try MovieModel.make())
            #expect(try store.verify().isSound)
            store.close()
            try remove()
        }
    }

    @Test func whatCrashesLeftHalfMadeIsSweptAndNothingElse() throws {
        try makeStore()
        defer { try? remove() }
        let ended = try EndedProcess.number()
        let kept = [".new-\(getpid())-7", ".new-x-7", "notes.txt", ".copy-\(ended)"]
        for name in [".copy-\(ended)-5"] + kept { try Data([1]).write(to: directory.appending(component: name)) }
        let half = directory.appending(component: ".new-\(ended)-6")
        try FileManager.default.createDirectory(at: half, withIntermediateDirectories: false)
        try Data([1]).write(to: half.appending(component: "data.mdb"))
        var options = StoreOptions()
        options.isReadOnly = true
        try Store.open(.directory(directory), model: nil, options: options).close()
        #expect(FileManager.default.fileExists(atPath: half.path(percentEncoded: false)), "a reader changes nothing")
        try Store.open(.directory(directory), model: nil).close()
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasSuffix("mdb") }
        #expect(Set(names) == Set(kept + ["writer.lock", "pages.sums"]))
    }

    @Test func aBackupCutShortMayBeMadeAgain() throws {
        let fixture = try StoreFixture()
        try makeDirectory()
        defer { try? remove() }
        try Data([1]).write(to: directory.appending(component: ".copy-\(try EndedProcess.number())-5"))
        #expect(try fixture.store.backup(to: directory).verification.isSound)
        // Killed when the copy was in place, and the hidden directory it was made in still there.
        let left = directory.deletingLastPathComponent()
            .appending(component: ".\(directory.lastPathComponent).partial-\(try EndedProcess.number())-5")
        defer { try? FileManager.default.removeItem(at: left) }
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
        #expect(throws: StrataError.self) { try fixture.store.backup(to: directory) }
        #expect(!FileManager.default.fileExists(atPath: left.path(percentEncoded: false)))
        #expect(try Store.open(.directory(directory), model: nil).verify().isSound, "the copy in place is left alone")
    }

    /// An opening for reading makes no directory, also not above the store: that of an interrupted backup may have been
    /// given up.
    @Test func anOpeningForReadingMakesNoDirectory() {
        let parent = FileManager.default.temporaryDirectory.appending(path: "strata-gone-\(UUID().uuidString)")
        var options = StoreOptions()
        options.isReadOnly = true
        #expect(throws: StrataError.self) {
            try Store.open(.directory(parent.appending(path: "store")), model: nil, options: options)
        }
        #expect(!FileManager.default.fileExists(atPath: parent.path(percentEncoded: false)))
    }
}
