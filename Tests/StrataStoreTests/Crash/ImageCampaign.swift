import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// Recorded work, and the states that a power cut during it may leave; both in processes of their own.
final class ImageCampaign {
    private let folder: CampaignFolder
    private let work: String
    private let durability: StoreDurability
    /// Whether calls can be recorded here; not under a sanitizer.
    private(set) var isAvailable = true

    init(_ work: String, _ durability: StoreDurability) throws {
        folder = try CampaignFolder()
        self.work = work
        self.durability = durability
    }

    private var trace: String { folder.root.appending(component: "trace").path(percentEncoded: false) }

    private func path(_ name: String) throws -> String {
        let url = folder.root.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url.path(percentEncoded: false)
    }

    /// Does the work so many times.
    func record(rounds: Int) throws {
        let failure = try recordingFailure(rounds: rounds)
        try #require(failure == nil, "\(work): \(failure ?? "")")
    }

    /// The same, with a fault that is planted on an occasion, which may make the work fail.
    ///
    /// - Returns: what was printed if it failed.
    func recordingFailure(rounds: Int, fault: (name: String, nth: Int)? = nil) throws -> String? {
        let planted = fault.map { [$0.name, "\($0.nth)"] } ?? []
        let result = try folder.run(
            ["record", try path("recorded"), durability.rawValue, work, trace, "\(rounds)"] + planted,
            limit: .seconds(120))
        isAvailable = !result.output.contains("unavailable")
        return result.exitCode == 0 ? nil : result.output + result.error
    }

    /// What is wrong with so many states.
    ///
    /// - Parameter manner: `images` for those that a power cut may leave, `kills` for those that the end of the process
    ///   leaves, `damage` for damaged files.
    func findings(seed: UInt64, count: Int, _ manner: String = "images") throws -> [String] {
        guard isAvailable else { return [] }
        var findings: [String] = []
        var next = 0
        while next < count {
            let arguments = [durability.rawValue, work, trace, "\(seed)", "\(next)", "\(count - next)"]
            let result = try folder.run(
                [manner, try path("checked")] + arguments, limit: .seconds(60 + 2 * count))
            let lines = result.output.split(separator: "\n")
            next += lines.count
            findings += lines.filter { $0.contains(" wrong: ") }.map(String.init)
            // A process that died has not said what it found.
            if next < count {
                findings.append("\(next) wrong: ended the process: \(result.exitCode) \(result.error.suffix(500))")
                next += 1
            }
        }
        return findings
    }
}
