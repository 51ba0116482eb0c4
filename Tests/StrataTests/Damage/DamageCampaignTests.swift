import Foundation
import StrataTestSupport
import Testing

/// Stores are damaged, read whole by an app, saved onto and verified, in a process of their own (`damage-child`). Each
/// part of what is read must be right or an error, no process may end by a signal, and what was saved may harm nothing.
///
/// `STRATA_SEEDS=10000 … --filter DamageCampaignTests` makes a long run of it: a damaged store of each kind for each
/// seed. `STRATA_SEED=21` repeats one; `STRATA_PROGRAMS=FOLDER` takes the process from another build.
@Suite(.serialized) struct DamageCampaignTests {
    private static let kindCount = 8
    /// How many stores a process judges before another one begins.
    private static let mostInARow = 400

    @Test func noDamageLiesOrEndsAProcess() throws {
        let environment = ProcessInfo.processInfo.environment
        let program = BuiltProgram("damage-child")
        let directory = URL.temporaryDirectory.appending(component: "campaign-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = directory.appending(component: "sound.strata").path(percentEncoded: false)
        let made = try program.run(["make", path, "1", environment["STRATA_BOOKS"] ?? "600"])
        try #require(made.output == "end\n", "\(made)")

        var outcomes: [String: Int] = [:]
        var copies: [Range<Int>] = []
        for seed in RandomTesting.seeds(unlessAsked: [1, 2, 3]).map(Int.init) {
            let first = (seed - 1) * Self.kindCount
            let begin = copies.last?.upperBound == first ? copies.removeLast().lowerBound : first
            copies.append(begin..<seed * Self.kindCount)
        }
        for range in copies { try judge(range, of: path, program, &outcomes) }
        #expect(outcomes.values.reduce(0, +) > 0 && Set(outcomes.keys.map { $0.prefix { $0 != " " } }).count == 8)
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) { print("campaign: \(outcome): \(count)") }
    }

    /// Judges all copies, also those behind one at which the process ended.
    private func judge(
        _ copies: Range<Int>, of path: String, _ program: BuiltProgram, _ outcomes: inout [String: Int]
    ) throws {
        var next = copies.lowerBound
        while next < copies.upperBound {
            let count = min(Self.mostInARow, copies.upperBound - next)
            let result = try program.run(
                ["judge", path, "\(next)", "\(count)"], limit: .seconds(120 + 10 * count))
            let lines = result.output.split(separator: "\n")
            for line in lines where line.hasPrefix("judged ") {
                outcomes[line.split(separator: " ").dropFirst(2).joined(separator: " "), default: 0] += 1
            }
            for line in lines where line.hasPrefix("wrong ") { Issue.record("copy \(line.dropFirst(6))") }
            if lines.last == "end" {
                next += count
            } else {
                let place = lines.last { $0.hasPrefix("at ") } ?? ""
                Issue.record(
                    "copy \(place): ended with \(result.exitCode): \(lines.last ?? "") \(result.error.suffix(300))")
                guard let number = Int(place.split(separator: " ").dropFirst().first ?? "") else { return }
                next = number + 1
            }
        }
    }
}
