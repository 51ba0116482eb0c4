import FaultShim
import Foundation
import StrataStore
import StrataTestSupport

/// Runs simulations with one seed after another and keeps their records, or checks what power cuts may leave of them.
///
/// A process that has recorded is not the one that checks: after a power cut the system has been started again.
struct SimulationRun {
    private let root: URL
    private let options: StoreOptions
    private let seeds: Range<UInt64>
    private let steps: Int
    private let cuts: Int

    /// What a simulation has left, beside its records.
    private struct Outcome: Codable {
        var states: [[String]]
        var failure: String?
    }

    /// `DIRECTORY DURABILITY FIRST-SEED COUNT STEPS CUTS` after the first argument.
    init(_ arguments: [String], _ options: StoreOptions) throws {
        guard fault_available() == 1 else {
            print("unavailable")
            exit(0)
        }
        root = URL(filePath: arguments[2], directoryHint: .isDirectory)
        self.options = options
        let first = UInt64(arguments[4]) ?? 1
        seeds = first..<first + (UInt64(arguments[5]) ?? 1)
        steps = Int(arguments[6]) ?? 1
        cuts = Int(arguments[7]) ?? 1
    }

    private func file(_ name: String, _ seed: UInt64) -> URL { root.appending(component: "\(name)-\(seed)") }

    func simulate() throws {
        let base = root.appending(path: "base", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
        try Simulation.prepare(Recording.store(in: base), options)
        let start = Image(files: try Image.files(of: base))
        for seed in seeds {
            let place = root.appending(path: "work-\(seed)", directoryHint: .isDirectory)
            defer { try? FileManager.default.removeItem(at: place) }
            try start.write(to: place)
            let descriptor = open(
                file("trace", seed).path(percentEncoded: false), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
            defer { close(descriptor) }
            var outcome = Outcome(states: [])
            record_begin(place.path(percentEncoded: false), descriptor)
            do {
                let simulation = try Simulation(Recording.store(in: place), options, seed: seed)
                defer { outcome.states = simulation.states }
                try simulation.run(steps: steps)
            } catch {
                outcome.failure = "\(error)"
            }
            record_end()
            try JSONEncoder().encode(outcome).write(to: file("outcome", seed))
        }
        try FileManager.default.removeItem(at: base)
        print("simulated \(seeds.count)")
    }

    /// Prints a line for each seed: the seed, and what is wrong.
    func check() throws {
        try startSystemAgain(in: root)
        for seed in seeds {
            let outcome = try JSONDecoder().decode(Outcome.self, from: Data(contentsOf: file("outcome", seed)))
            var failure = outcome.failure
            if failure == nil {
                let trace = try Trace(file("trace", seed))
                var generator = SeededGenerator(seed: seed &* 1_000_003)
                for cut in 0..<cuts where failure == nil {
                    failure = try self.failure(of: cut, trace, outcome.states, &generator)
                }
            }
            reportLine("\(seed)\(failure.map { " wrong: \($0)" } ?? "")")
            for name in ["trace", "outcome"] { try FileManager.default.removeItem(at: file(name, seed)) }
        }
    }

    private func failure(
        of number: Int, _ trace: Trace, _ states: [[String]], _ generator: inout SeededGenerator
    ) throws -> String? {
        let place = root.appending(path: "cut-\(number)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: place) }
        let (cut, image, manner) = trace.crash(Trace.Manner.allCases, &generator)
        let said = trace.said(before: cut)
        do {
            try image.writeAsRecorded(to: place)
            let view = AppView(try Simulation.open(Recording.store(in: place), options))
            defer { view.close() }
            let state = try view.whole()
            // A step that was under way may have come to its end; before the first there is the first state.
            let (least, most) = (said[Simulation.promised] ?? 0, (said[Simulation.observed] ?? 0) + 1)
            guard (least...most).contains(where: { $0 < states.count && states[$0] == state }) else {
                throw Simulation.Failure(
                    description: "not one of the states \(least) to \(most): \(state.joined(separator: "; "))")
            }
            guard try view.isSound() else { throw Simulation.Failure(description: "it does not verify") }
            return nil
        } catch {
            return "cut before operation \(cut) of \(trace.operations.count), \(manner): \(error)"
        }
    }
}
