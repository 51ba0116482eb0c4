import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Faults planted on purpose, each of which the campaigns must find: a test that finds none of them proves nothing.
@Suite struct PlantedFaultTests {
    /// Each with the work that meets it, and on what occasion it is planted.
    private static let recorded: [(fault: String, work: String, nth: Int)] = [
        ("noSync", "alone", 2), ("headFirst", "alone", 2), ("unsyncedHead", "alone", 2), ("lostWrite", "alone", 4),
        ("tornWrite", "alone", 4), ("noNameSync", "create", 1), ("noNameSync", "restore", 1), ("noEvent", "alone", 2),
        ("noEntry", "alone", 2),
    ]

    @Test(arguments: recorded) func aPlantedFaultIsFoundInCrashImages(
        fault: String, work: String, nth: Int
    ) throws {
        let campaign = try ImageCampaign(work, .full)
        if let error = try campaign.recordingFailure(rounds: 6, fault: (fault, nth)) {
            // Found while the work went on, as the damage that it is.
            #expect(error.contains("amaged") || error.contains("corrupt"), "\(fault): \(error)")
            return
        }
        guard campaign.isAvailable else { return }
        var findings: [String] = []
        for seed in 1...8 where findings.isEmpty { findings = try campaign.findings(seed: UInt64(seed), count: 25) }
        #expect(!findings.isEmpty, "\(fault) was not found")
    }

    /// Pages that a reader still reads are written on.
    @Test func pagesThatAreUsedAgainTooEarlyAreFound() throws {
        let root = try Self.folder()
        defer { try? FileManager.default.removeItem(at: root) }
        let arguments = ["planted", root.path(percentEncoded: false) + "/a.strata", "full", "watch", "60"]
        let sound = try Self.child.run(arguments, environment: Self.quiet, limit: .seconds(120))
        #expect(sound.exitCode == 0, "\(sound.error)")
        let other = ["planted", root.path(percentEncoded: false) + "/b.strata", "full", "watch", "60", "earlyReuse"]
        let result = try Self.child.run(other, environment: Self.quiet, limit: .seconds(120))
        #expect(result.exitCode != 0, "pages were used again too early, and nobody saw it")
    }

    /// Two processes that write at once, since neither takes a lock that the other sees.
    @Test(arguments: [nil, "noLock"]) func aLockThatIsNotTakenIsFound(fault: String?) async throws {
        let root = try Self.folder()
        defer { try? FileManager.default.removeItem(at: root) }
        let directory = root.appending(path: "two.strata", directoryHint: .isDirectory)
        let path = directory.path(percentEncoded: false)
        let options = fault.map { [$0] } ?? []
        let made = try Self.child.run(["planted", path, "full", "alone", "1"], environment: Self.quiet)
        try #require(made.exitCode == 0, "\(made.error)")
        async let first = Self.run(["planted", path, "full", "alone", "60"] + options)
        async let second = Self.run(["planted", path, "full", "second", "60"] + options)
        let codes = try await [first, second]
        var problems = codes.filter { $0 != 0 }.map { "a process ended with \($0)" }
        do {
            let store = try Store.open(.directory(directory), model: nil)
            defer { store.close() }
            problems += try store.verify().problems.map(\.description)
            let saves = try store.transactions(limit: .max).count { $0.metadata["n"] != nil }
            if saves != 121 { problems.append("\(saves) of 121 saves are there") }
        } catch {
            problems.append("\(error)")
        }
        #expect(problems.isEmpty == (fault == nil), "\(problems)")
    }

    private static let child = BuiltProgram("store-crash-child")
    private static let quiet = ["SWIFT_BACKTRACE": "enable=no"]

    private static func run(_ arguments: [String]) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try child.run(arguments, environment: quiet, limit: .seconds(120)).exitCode })
            }
        }
    }

    private static func folder() throws -> URL {
        let root = FileManager.default.temporaryDirectory.appending(path: "strata-planted-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return root
    }
}
