import Foundation
import Strata
import StrataTestSupport

/// Damages copies of a store and holds what an app meets in them against the sound store: each part of what is read must
/// be right or an error, and what was saved may harm nothing.
///
/// `STRATA_KEEP=FOLDER` keeps the damaged files.
struct Judge {
    private let data: Data
    private let old: Data
    private let sums: Data
    private let soundParts: [String: String]
    private let soundLog: [String: String]
    private let folder: URL
    private static let saveCount = 10

    /// - Parameter path: of a sound store that `make` has made.
    init(of path: String) throws {
        let directory = URL(filePath: path, directoryHint: .isDirectory)
        data = try Data(contentsOf: directory.appending(component: "data.mdb"))
        old = try Data(contentsOf: directory.appending(component: "data.old"))
        sums = try Data(contentsOf: directory.appending(component: "pages.sums"))
        folder = directory.appendingPathExtension("judged")
        let container = try Library.container(at: path)
        soundParts = Readings(container).parts
        container.close()
        soundLog = try LogReadings(directory).parts
        guard soundParts.count > 70, soundLog.count > 10, !soundParts.values.contains(where: { $0.hasPrefix("error") }),
            !soundLog.keys.contains(where: { $0.hasPrefix("problem") })
        else { throw StrataError(.corrupt, "the store that is to be damaged is not sound") }
    }

    /// What is met in one damaged store.
    private struct Findings {
        let number: Int

        func phase(_ name: String) { Output.line("at \(number) \(name)") }

        func expect(_ isMet: Bool, _ sentence: @autoclosure () -> String) {
            if !isMet { Output.line("wrong \(number) \(sentence().replacing("\n", with: " "))") }
        }
    }

    /// Damages and judges copy `number`.
    func judge(_ number: Int) throws {
        let kind = FileDamage.allCases[number % FileDamage.allCases.count]
        var random = SeededGenerator(seed: UInt64(number / FileDamage.allCases.count + 1))
        let bytes = kind.applied(to: data, before: old, using: &random)
        if let kept = ProcessInfo.processInfo.environment["STRATA_KEEP"] {
            try put(bytes, into: URL(filePath: kept).appending(component: "\(number) \(kind).strata"))
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let findings = Findings(number: number)
        let directory = try copy(bytes)

        findings.phase("read")
        let first = reading(directory)
        findings.expect(first.wrong(soundParts) == [], "read wrong: \(first.wrong(soundParts))")
        findings.phase("save")
        let saves = saving(directory, findings)
        findings.phase("read after saves")
        let second = reading(directory)
        findings.expect(second.wrong(soundParts) == [], "read wrong after saves: \(second.wrong(soundParts))")
        findings.phase("log")
        let log = logReading(directory)
        checkHistory(log, saves, findings)
        if kind == .cut {
            findings.phase("log before saves")
            check(log, against: logReading(try copy(bytes)), saves, findings)
        } else if log.error != nil || log.parts.keys.contains(where: { $0.hasPrefix("problem") }) {
            // A store that verifies as sound has nothing to undo: its saves may have written what a damaged free page held.
            findings.phase("undo")
            try undoDamage(of: bytes, in: directory)
            let mended = logReading(directory)
            let problems = mended.parts.filter { $0.key.hasPrefix("problem") }
            findings.expect(
                mended.error == nil && problems.isEmpty,
                "harmed by \(saves) saves: \(mended.error ?? "") \(problems.keys.sorted().prefix(5))")
        }
        let outcome = first.hasErrors ? "error" : "right"
        Output.line("judged \(number) \(kind) \(outcome)\(saves > 0 ? " saved" : "")")
    }

    // MARK: What an app does

    private func reading(_ directory: URL) -> Reading {
        Reading {
            let container = try Library.container(at: directory.path(percentEncoded: false))
            defer { container.close() }
            return Readings(container).parts
        }
    }

    private func logReading(_ directory: URL) -> Reading { Reading { try LogReadings(directory).parts } }

    /// - Returns: how many saves succeeded.
    private func saving(_ directory: URL, _ findings: Findings) -> Int {
        do {
            let container = try Library.container(at: directory.path(percentEncoded: false))
            defer { container.close() }
            let saves = Saves(Self.saveCount, container)
            findings.expect(saves.untyped.isEmpty, "untyped errors: \(saves.untyped)")
            return saves.count
        } catch {
            findings.expect(error is StrataError, "an untyped error: \(error)")
            return 0
        }
    }

    // MARK: The log

    private func checkHistory(_ log: Reading, _ saves: Int, _ findings: Findings) {
        let transactions = log.parts.filter { $0.key.hasPrefix("transaction") && !$0.value.hasPrefix("error") }
        let wrong = transactions.filter { soundLog[$0.key] != nil && soundLog[$0.key] != $0.value }
        findings.expect(wrong.isEmpty, "another log: \(wrong.keys.sorted())")
        guard log.error == nil else { return }
        let added = transactions.count { soundLog[$0.key] == nil }
        findings.expect(added >= saves, "\(saves) saves, \(added) are in the log")
    }

    /// Whether the log was as bad before anything was saved.
    private func check(_ log: Reading, against before: Reading, _ saves: Int, _ findings: Findings) {
        findings.expect(log.error == before.error || saves == 0, log.error ?? "")
        let problems = log.logProblems.subtracting(before.logProblems)
        findings.expect(problems.isEmpty, "the log is damaged after \(saves) saves: \(problems)")
    }

    /// Puts the sound pages in the place of the damaged ones that nobody has written since. What was saved beside them
    /// must be sound then: a commit that wrote on pages in use, or made records of what was wrong, shows here.
    private func undoDamage(of damaged: Data, in directory: URL) throws {
        let file = directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        for start in stride(from: 0, to: data.count, by: FileDamage.pageSize) {
            // Of the first two pages LMDB writes a part only.
            let size = start < 2 * FileDamage.pageSize ? 1 : FileDamage.pageSize
            for part in stride(from: start, to: start + FileDamage.pageSize, by: size) {
                let range = part..<part + size
                if damaged[range] != data[range], bytes[range] == damaged[range] {
                    bytes.replaceSubrange(range, with: data[range])
                }
            }
        }
        try bytes.write(to: file)
    }

    // MARK: Files

    /// The damaged store, always under the same name, which errors have in them.
    private func copy(_ bytes: Data) throws -> URL {
        try? FileManager.default.removeItem(at: folder)
        let directory = folder.appending(path: "copy.strata", directoryHint: .isDirectory)
        try put(bytes, into: directory)
        return directory
    }

    private func put(_ bytes: Data, into directory: URL) throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, content) in [("data.mdb", bytes), ("pages.sums", sums)] {
            let file = directory.appending(component: name)
            try content.write(to: file)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: file.path(percentEncoded: false))
        }
    }
}
