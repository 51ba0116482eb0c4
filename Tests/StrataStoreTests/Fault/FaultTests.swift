import Foundation
import StrataTestSupport
import Testing

/// Stores under which the operating system fails, in a child process whose system calls can be told to.
@Suite struct FaultTests {
    /// Every call that writes, syncs or names a file fails once, in every kind of work, each in a run of its own.
    @Test(arguments: [
        (ENOSPC, "0", "full"), (EIO, "1", "full"), (EIO, "2", "full"), (EIO, "2", "journaled"),
    ])
    func everyCallMayFailOnce(error: Int32, manner: String, durability: String) throws {
        let lines = try run("sweep", "\(error)", manner, durability: durability)
        guard lines != ["unavailable"] else { return }
        for work in [
            "insert", "change", "large values", "rebuild", "rebuild in steps", "sweep", "backup", "model", "many",
            "creation",
        ] {
            let calls = lines.first { $0.hasPrefix("\(work): ") }?.split(separator: " ").dropLast().last
            let count = try #require(calls.flatMap { Int($0) }, "\(work) is missing in \(lines)")
            #expect(count >= 3, "\(work) made only \(count) calls")
        }
        #expect(lines.last == "done")
    }

    /// Rule 8 of CONTRIBUTING.md.
    @Test func aCommitWhoseMetaPageFailsIsSettledOrInDoubt() throws {
        let lines = try run("doubt")
        guard lines != ["unavailable"] else { return }
        #expect(
            lines == [
                "a refused meta page", "a meta page that was written all the same", "doubt", "doubt about nothing",
                "a group", "other work", "a context", "changes after doubt", "undo in doubt", "done",
            ])
    }

    /// The system may have no thread to give, as when too many run or address space is used up.
    @Test func withoutAThreadThereIsAnErrorAndNoWaiting() throws {
        let lines = try run("threads")
        guard lines != ["unavailable"] else { return }
        #expect(lines == ["opening", "observing", "rebuilding", "saving", "verifying", "fetching", "done"])
    }

    /// A power cut takes a file whose directory was not synced.
    @Test func namesOfFilesAreDurable() throws {
        let lines = try run("names")
        guard lines != ["unavailable"] else { return }
        #expect(
            lines == ["a value that is there", "directories above a new store", "directories that others made", "done"])
    }

    private func run(_ work: String, _ arguments: String..., durability: String = "full") throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-fault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(component: "store-fault-child")
        process.arguments = [work, directory.path(percentEncoded: false)] + arguments
        process.environment = ["SWIFT_BACKTRACE": "enable=no", "STRATA_DURABILITY": durability]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(text)")
        return text.split(separator: "\n").map(String.init)
    }
}
