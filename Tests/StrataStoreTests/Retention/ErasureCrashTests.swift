import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A process that erases objects beside saves is killed at random moments. Afterwards every save that it acknowledged is
/// there, no byte of an erased text is in the store's files, and nothing that was erased comes back.
@Suite(.serialized) struct ErasureCrashTests {
    /// 20 kills, or as many as STRATA_KILLS says.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 20
    }

    @Test func aKilledErasureIsFinishedOrNotBegun() throws {
        let seed = RandomTesting.seeds(unlessAsked: [37])[0]
        var generator = SeededGenerator(seed: seed)
        var folder = try ErasureFolder()
        var (saves, erased): (Set<Int>, Set<Int>) = ([], [])
        var erasures = 0
        for round in 0..<max(4, Self.kills) {
            // A new store now and then, so that its notes stay few.
            if round % 10 == 0 { (folder, saves, erased) = (try ErasureFolder(), [], []) }
            let child = try CrashChild(folder.store, round % 2 == 0 ? .full : .relaxed, "erase")
            var lines: [(thread: Int, number: Int)] = []
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                lines.append(try #require(child.acknowledgement(), "seed \(seed), round \(round)"))
            }
            usleep(UInt32.random(in: 0...20_000, using: &generator))
            lines += child.kill()
            saves.formUnion(lines.filter { $0.thread == 1 }.map(\.number))
            erased.formUnion(lines.filter { $0.thread == 0 }.map(\.number))
            erasures += lines.count { $0.thread == 0 }
            try check(folder, &saves, &erased, "seed \(seed), round \(round)")
        }
        #expect(erasures > 0, "nothing was erased")
    }

    /// Saves and erasures that were made and not said are noted.
    private func check(
        _ folder: ErasureFolder, _ saves: inout Set<Int>, _ erased: inout Set<Int>, _ place: String
    ) throws {
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let logged = Set(try store.savesByThread()[1] ?? [])
        #expect(saves.isSubset(of: logged) && logged.count <= saves.count + 1, "\(place): \(saves) \(logged)")
        #expect(logged == Set(1..<logged.count + 1), "\(place): a save is missing")
        saves = logged
        var notes = try numbers(store)
        let gone = logged.subtracting(notes)
        #expect(erased.isSubset(of: gone) && gone.count <= erased.count + 1, "\(place): \(erased) \(gone)")
        erased = gone
        #expect(try store.erasures().count == gone.count, "\(place)")
        #expect(try folder.scan(for: gone.map(Self.mark)) == [:], "\(place): an erased text is there")
        let report = try store.verify(.full)
        #expect(report.isSound, "\(place): \(report.problems.map(\.description))")
        #expect(try store.rebuild().isUnchanged, "\(place)")
        notes = try numbers(store)
        #expect(logged.subtracting(notes) == gone, "\(place): an erased note came back")
    }

    /// What the texts of a note consist of, as `Erasing` in store-crash-child makes them.
    private static func mark(_ number: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(number))
        return "keepsake\(String(generator.next(), radix: 16))."
    }

    private func numbers(_ store: Store) throws -> Set<Int> {
        let note = try #require(store.schema.entity(named: "Note"))
        let slot = try #require(note.property(named: "number")).slot
        var numbers: Set<Int> = []
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(note.id) { _, row in
                let image = try row.converted(to: note)
                let number = try image.withReader(note.layout) { reader throws(CorruptRecord) in
                    Int(reader.integer(slot) ?? 0)
                }
                numbers.insert(number)
                return true
            }
        }
        return numbers
    }
}
