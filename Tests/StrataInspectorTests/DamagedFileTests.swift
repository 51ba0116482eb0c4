import Foundation
import StrataTestSupport
import Testing

/// Whatever has become of a store's file, every command ends by itself: with what it was asked for, or with an error
/// that names the store and what to do.
@Suite struct DamagedFileTests {
    private let store: FilmStore
    private let sound: Data
    private let sums: Data
    private let still: String

    private var file: URL { store.directory.appending(component: "data.mdb") }
    private var new: String { store.path + ".new" }
    private var records: String { store.path + "/more.ndjson" }

    /// Some hundred objects with links and large values, on some hundred pages of which few are free.
    init() throws {
        store = try FilmStore()
        func run(_ arguments: String...) throws {
            let result = try Tool.run(arguments)
            try #require(result.exitCode == 0, "\(result)")
        }
        let path = store.path
        try Self.films(600, from: 0).write(toFile: path + "/more.ndjson", atomically: false, encoding: .utf8)
        try run(
            "import", path, "Film", path + "/more.ndjson", "--map", "studio=studio.name", "--map",
            "genres=genres.label", "--missing", "create", "--rows", "60")
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path + "/image"))
        try run("insert", path, "Still", "name=frame", "image=@\(path)/image")
        try run("insert", path, "Still", "name=\(String(repeating: "long ", count: 3000))")
        try run("update", path, "Film", "rating=5", "--where", "year < 1940", "--all")
        try run("delete", path, "Film", "--where", "title ENDSWITH '7'", "--all")
        let found = try Tool.run("query", path, "Still", "--where", "name == 'frame'", "--json").output
        still = try #require(found.firstMatch(of: /Still\/p\d+/).map { String($0.output) })
        try run("compact", path)
        try run("insert", path, "Studio", "name=Pathé")
        try run("update", path, "Film", "rating=6", "--where", "year > 2015", "--all")
        try Self.films(30, from: 1000).write(toFile: path + "/more.ndjson", atomically: false, encoding: .utf8)
        sound = try Data(contentsOf: store.directory.appending(component: "data.mdb"))
        sums = try Data(contentsOf: store.directory.appending(component: "pages.sums"))
        try #require(sound.count > 200 * PageDamage.pageSize)
    }

    private static func films(_ count: Int, from first: Int) -> String {
        (first..<first + count).map {
            #"{"title": "Film \#($0)", "year": \#(1900 + $0 * 7 % 120), "studio": "Studio \#($0 % 9)", "#
                + #""genres": ["drama", "genre \#($0 % 7)"]}"#
        }.joined(separator: "\n")
    }

    /// The log has the films up to the damaged one; the others are in the view, on both sides of its damaged page.
    @Test func objectsBehindADamagedPageComeOver() throws {
        func films(_ path: String) throws -> Int {
            let output = try Tool.run("count", path, "Film").output.filter { $0.isNumber }
            return try #require(Int(output))
        }
        let before = try films(store.path)
        #expect(try store.flip(everywhere: Data("Film 300".utf8)) > 1)
        let result = try Tool.run("doctor", store.path, "--into", new)
        #expect(result.exitCode == 1, "\(result)")
        // A page has some forty films.
        let after = try films(new)
        #expect(after < before && after >= before - 60, "\(after) of \(before): \(result)")
    }

    /// Every command that opens a store.
    private static let commands: [[String]] = [
        ["inspect", "STORE"], ["inspect", "STORE", "--json"], ["query", "STORE", "Film", "--where", "year > 1950"],
        ["query", "STORE", "Film", "--where", "studio.name == 'Studio 3' AND rating > 1", "--sort", "-title"],
        ["query", "STORE", "Film", "--where", "ANY genres.label == 'drama'", "--columns", "title,studio.name"],
        ["query", "STORE", "Film", "--at", "t4"], ["query", "STORE", "Film", "--group-by", "studio.name"],
        ["count", "STORE", "Film", "--where", "title CONTAINS '3'"], ["count", "STORE", "Genre"],
        ["show", "STORE", "Film/p5", "--history"], ["show", "STORE", "STILL"], ["stats", "STORE"],
        ["log", "STORE"], ["log", "STORE", "--entity", "Film", "--reverse", "--json"],
        ["log", "STORE", "--follow", "--limit", "3"], ["blame", "STORE", "Film/p5"], ["diff", "STORE", "t2", "t6"],
        ["timeline", "STORE"], ["replay", "STORE", "--speed", "0"], ["replay", "STORE", "--into", "NEW"],
        ["export", "STORE", "Film"], ["export", "STORE", "Still", "NEW.csv"],
        ["export", "STORE", "--form", "cloudevents"], ["verify", "STORE"], ["verify", "STORE", "--quick", "--json"],
        ["doctor", "STORE"], ["doctor", "STORE", "--into", "NEW"], ["backup", "STORE", "NEW"],
        ["restore", "STORE", "NEW"], ["model", "show", "STORE"], ["model", "check", "STORE"],
        ["model", "diff", "STORE", "STORE"], ["model", "export", "STORE", "NEW.xcdatamodeld"],
        ["generate", "STORE", "--out", "NEW"],
    ]

    private static let changing: [[String]] = [
        ["insert", "STORE", "Film", "title=New", "year=2000", "studio=Studio/p1"],
        ["update", "STORE", "Film", "rating=3", "--where", "year > 1980", "--all"],
        ["update", "STORE", "Film/p5", "year=1990"], ["delete", "STORE", "Film/p6"], ["delete", "STORE", "Studio/p2"],
        ["link", "STORE", "Film/p7", "genres", "Genre/p3"], ["unlink", "STORE", "Film/p5", "genres", "--all"],
        ["revert", "STORE", "t4"],
        [
            "import", "STORE", "Film", "RECORDS", "--map", "studio=studio.name", "--map", "genres=genres.label",
            "--missing", "create", "--rows", "10",
        ],
        ["rebuild", "STORE"], ["rebuild", "STORE", "--step", "50"], ["compact", "STORE"],
    ]

    /// Commands whose findings are their output.
    private static let tellsProblems: Set = ["verify", "doctor", "rebuild"]

    private static let absences = [
        "There is no ", " is not in the store.", "The object cannot be read any more.", "The store's file is empty.",
    ]

    private static let limit = Duration.seconds(60)

    @Test(arguments: RandomTesting.seeds)
    func everyCommandEndsByItselfOnADamagedFile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let all = Self.commands.map { ($0, true) } + Self.changing.map { ($0, false) }
        let commands = all.shuffled(using: &generator)
        let kinds = PageDamage.allCases.shuffled(using: &generator)
        var failures = 0
        for (number, (words, onlyReads)) in commands.enumerated() {
            let kind = kinds[number % kinds.count]
            let damaged = kind.applied(to: sound, using: &generator)
            try damaged.write(to: file)
            // A change of a damaged store would have newer ones.
            try sums.write(to: store.directory.appending(component: "pages.sums"))
            let result = try Tool.program.run(
                words.map {
                    $0.replacing("STORE", with: store.path).replacing("NEW", with: new)
                        .replacing("RECORDS", with: records).replacing("STILL", with: still)
                }, limit: Self.limit)
            let comment: Comment = "seed \(seed), \(kind), \(words)\n\(result.exitCode): \(result.error.suffix(2000))"
            failures += result.exitCode == 0 ? 0 : 1
            try expectClear(result, words, comment)
            if onlyReads { #expect(try Data(contentsOf: file) == damaged, comment) }
            try expectNothingLeft(result, words, comment)
        }
        #expect(failures > 3, "no damage was met")
        try sound.write(to: file)
        try sums.write(to: store.directory.appending(component: "pages.sums"))
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    private func expectClear(_ result: BuiltProgram.Result, _ words: [String], _ comment: Comment) throws {
        #expect([0, 1].contains(result.exitCode), comment)
        #expect(!result.error.contains("defect of the program") && !result.error.contains("Fatal error"), comment)
        guard result.exitCode != 0, !Self.tellsProblems.contains(words[0]) else { return }
        // A search that is led to another page finds nothing there, which is no sign of damage.
        let isMissed = Self.absences.contains { result.error.contains($0) }
        #expect(isMissed || result.error.contains("'strata doctor \(store.path)' says what is lost"), comment)
    }

    /// What is not whole has nobody's name; what the store's own directory holds is not looked at.
    private func expectNothingLeft(_ result: BuiltProgram.Result, _ words: [String], _ comment: Comment) throws {
        let parent = store.directory.deletingLastPathComponent()
        let own = store.directory.lastPathComponent
        let names = try FileManager.default.contentsOfDirectory(atPath: parent.path(percentEncoded: false))
            .filter { $0.contains(own) && $0 != own }
        let made = Set([own + ".new", own + ".new.csv", own + ".new.xcdatamodeld"])
        #expect(made.isSuperset(of: names), comment)
        // The doctor saves what it can, and says that there is damage.
        if result.exitCode != 0, words[0] != "doctor" { #expect(names.isEmpty, comment) }
        if names.contains(own + ".new"), words[0] != "generate" {
            #expect(try Tool.run("verify", new).exitCode == 0, comment)
        }
        for name in names { try FileManager.default.removeItem(at: parent.appending(component: name)) }
    }

    // MARK: One page, told exactly

    /// The page that every reading begins with: the root of the table of tables.
    @Test func theErrorNamesTheStoreAndWhatToDo() throws {
        let root = sound.withUnsafeBytes { bytes in
            let metas = [0, PageDamage.pageSize]
            let newest = metas.max { bytes.transaction(at: $0) < bytes.transaction(at: $1) } ?? 0
            return Int(bytes.loadUnaligned(fromByteOffset: newest + 128, as: UInt64.self))
        }
        var damaged = sound
        // A branch whose children lie far beyond the file.
        let start = root * PageDamage.pageSize
        damaged[start + 10] = 1
        try damaged.write(to: file)
        let result = try Tool.run("count", store.path, "Film")
        #expect(result.exitCode == 1 && result.output.isEmpty, "\(result)")
        #expect(result.error.hasPrefix("strata: ") && result.error.contains(store.path), "\(result)")
        let advice = "strata: 'strata doctor \(store.path)' says what is lost and saves what is sound.\n"
        #expect(result.error.hasSuffix(advice), "\(result)")
        try sound.write(to: file)
    }
}

extension UnsafeRawBufferPointer {
    /// The number of the commit that a meta page is of.
    fileprivate func transaction(at page: Int) -> UInt64 { loadUnaligned(fromByteOffset: page + 144, as: UInt64.self) }
}

/// What may befall a file of pages.
private enum PageDamage: CaseIterable {
    case lostPage, noise, noiseInHead, flippedHead, flippedSlots, flippedMeta, flippedBits, cutBetweenPages, cutInPage
    case swappedPages, repeatedPage

    static let pageSize = 4096
    /// Of a page: number, flags, bounds.
    private static let headSize = 16

    func applied<Generator: RandomNumberGenerator>(to sound: Data, using generator: inout Generator) -> Data {
        var bytes = [UInt8](sound)
        let count = bytes.count / Self.pageSize
        func anyPage() -> Int { Int.random(in: 2..<count, using: &generator) * Self.pageSize }
        /// A page that leads to others if there is one near: few do, and most reads pass through them.
        func page() -> Int {
            let pages = (2..<count).map { $0 * Self.pageSize }
            let branches = pages.filter { bytes[$0 + 10] & 1 != 0 && bytes[$0 + 11] == 0 }
            return Bool.random(using: &generator) ? branches.randomElement(using: &generator) ?? anyPage() : anyPage()
        }
        func fill(_ range: Range<Int>, _ byte: (inout Generator) -> UInt8) {
            for index in range { bytes[index] = byte(&generator) }
        }
        func flip(_ range: Range<Int>, _ times: ClosedRange<Int>) {
            for _ in 0..<Int.random(in: times, using: &generator) {
                bytes[Int.random(in: range, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
        }
        func noise(_ generator: inout Generator) -> UInt8 { UInt8.random(in: 0...255, using: &generator) }
        switch self {
        case .lostPage:
            let start = page()
            fill(start..<start + Self.pageSize) { _ in 0 }
        case .noise:
            let start = page()
            fill(start..<start + Self.pageSize, noise)
        case .noiseInHead:
            let start = page()
            fill(start..<start + Self.headSize, noise)
        case .flippedHead:
            let start = page()
            flip(start..<start + Self.headSize, 1...3)
        case .flippedSlots:
            let start = page()
            flip(start + Self.headSize..<start + 80, 1...8)
        case .flippedMeta:
            // What LMDB reads of the two pages.
            let start = Bool.random(using: &generator) ? 0 : Self.pageSize
            flip(start + 8..<start + 152, 1...2)
        case .flippedBits: flip(2 * Self.pageSize..<bytes.count, 20...400)
        case .cutBetweenPages:
            bytes.removeLast(bytes.count - Int.random(in: 0..<count, using: &generator) * Self.pageSize)
        case .cutInPage: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
        case .swappedPages:
            let (first, second) = (page(), page())
            for offset in 0..<Self.pageSize { bytes.swapAt(first + offset, second + offset) }
        case .repeatedPage:
            let (first, second) = (page(), page())
            bytes.replaceSubrange(second..<second + Self.pageSize, with: bytes[first..<first + Self.pageSize])
        }
        return Data(bytes)
    }
}
