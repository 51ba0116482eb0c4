import Foundation
import StrataTestSupport
import Testing

/// Stores are damaged, read whole by an app, saved onto and verified, in processes of their own. Each part of what is
/// read must be right or an error, no process may end by a signal, and what was saved may harm nothing.
///
/// `STRATA_SEEDS=1000 … --filter DamageCampaignTests` makes a long run of it: a damaged store of each kind for each
/// seed.
@Suite(.serialized) struct DamageCampaignTests {
    private static let program = BuiltProgram("damage-child")
    private static let template = Result { try Template(program) }
    private static let limit = Duration.seconds(120)
    private static let saveCount = 10

    /// A sound store, and what is read of it.
    private struct Template {
        let data: Data
        let old: Data
        let sums: Data
        let parts: [String: String]
        let log: [String: String]

        init(_ program: BuiltProgram) throws {
            let directory = URL.temporaryDirectory.appending(component: "campaign-\(UUID().uuidString).strata")
            defer { try? FileManager.default.removeItem(at: directory) }
            let path = directory.path(percentEncoded: false)
            let made = try program.run([
                "make", path, "1", ProcessInfo.processInfo.environment["STRATA_BOOKS"] ?? "600",
            ])
            try #require(made.output == "end\n", "\(made)")
            data = try Data(contentsOf: directory.appending(component: "data.mdb"))
            old = try Data(contentsOf: directory.appending(component: "data.old"))
            sums = try Data(contentsOf: directory.appending(component: "pages.sums"))
            parts = Run(try program.run(["read", path])).parts
            log = Run(try program.run(["log", path])).parts
            try #require(parts.count > 70 && log.count > 10, "\(parts.count) \(log.count)")
            try #require(
                !parts.values.contains { $0.hasPrefix("error") } && !log.keys.contains { $0.hasPrefix("problem") })
        }
    }

    /// What a process has printed.
    private struct Run {
        var parts: [String: String] = [:]
        /// The error that ended it early.
        var error: String?
        var saves = 0
        let signal: Int32?

        init(_ result: BuiltProgram.Result) {
            signal = result.exitCode < 0 ? -result.exitCode : nil
            for line in result.output.split(separator: "\n") {
                let fields = line.split(separator: "\t", maxSplits: 1).map(String.init)
                if fields.count == 2 { parts[fields[0]] = fields[1] }
                if line.hasPrefix("error ") { error = String(line) }
                if line.hasPrefix("saved ") { saves += 1 }
            }
        }

        /// Parts that are neither those of the sound store nor errors.
        func wrong(_ sound: [String: String]) -> [String] {
            if error != nil {
                return parts.filter { !$0.value.hasPrefix("error") && sound[$0.key] != $0.value }.map(\.key)
            }
            return sound.filter { name, value in
                guard let part = parts[name] else {
                    // The list of the objects could not be read.
                    let list = "all \(name.prefix { $0 != " " })"
                    return parts[list]?.hasPrefix("error") != true
                }
                return part != value && !part.hasPrefix("error")
            }.map(\.key)
        }

        var hasErrors: Bool { error != nil || parts.values.contains { $0.hasPrefix("error") } }
        /// The pages that verification finds to be others than were written, by their numbers, and what it says of how
        /// pages hang together. That names the root of a damaged tree, or pages to which a damaged page leads: each commit
        /// puts those on other pages.
        var damagedPages: Set<String> {
            let found = parts.filter { $0.key.hasPrefix("problem page") }
            return Set(
                found.map { name, problem in
                    guard !problem.hasSuffix("it is not the page that was written") else { return name }
                    return problem.split(separator: ": ").dropFirst(2).joined(separator: ": ")
                })
        }
        var logProblems: Set<String> {
            Set(
                parts.filter { part in
                    part.key.hasPrefix("transaction") && part.value.hasPrefix("error")
                        || ["event", "payload", "transaction", "chain", "head"].contains {
                            part.key.hasPrefix("problem \($0)")
                        }
                }.map { "\($0.key) \($0.value)" })
        }
    }

    @Test(arguments: RandomTesting.seeds(unlessAsked: [1])) func noDamageLiesOrEndsAProcess(seed: UInt64) throws {
        let template = try Self.template.get()
        var random = SeededGenerator(seed: seed)
        for kind in FileDamage.allCases {
            let bytes = kind.applied(to: template.data, before: template.old, using: &random)
            try judge(bytes, template, "seed \(seed), \(kind)", "\(kind)")
        }
    }

    /// The damaged file stays in the folder `STRATA_KEEP`, if that is set.
    private func judge(_ bytes: Data, _ template: Template, _ comment: String, _ kind: String) throws {
        if let folder = ProcessInfo.processInfo.environment["STRATA_KEEP"] {
            let directory = URL(filePath: folder).appending(component: "\(comment).strata")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try bytes.write(to: directory.appending(component: "data.mdb"))
            try template.sums.write(to: directory.appending(component: "pages.sums"))
            try template.data.write(to: directory.appending(component: "data.sound"))
        }
        let directory = URL.temporaryDirectory.appending(component: "campaign-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: directory) }
        func reset() throws {
            try? FileManager.default.removeItem(at: directory)
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for (name, content) in [("data.mdb", bytes), ("pages.sums", template.sums)] {
                let file = directory.appending(component: name)
                try content.write(to: file)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: file.path(percentEncoded: false))
            }
        }
        let path = directory.path(percentEncoded: false)
        func run(_ words: String...) throws -> Run {
            let run = Run(try Self.program.run(words, limit: Self.limit))
            #expect(run.signal == nil, "\(comment): \(words[0]) ended by signal \(run.signal ?? 0)")
            return run
        }
        try reset()
        let first = try run("read", path)
        #expect(first.wrong(template.parts) == [], "\(comment): read wrong")
        let saves = try run("save", path, "\(Self.saveCount)").saves
        let second = try run("read", path)
        #expect(second.wrong(template.parts) == [], "\(comment): read wrong after \(saves) saves")
        let log = try run("log", path)
        let wrong = log.parts.filter { $0.key.hasPrefix("transaction") && template.log[$0.key] != nil }
            .filter { $0.value != template.log[$0.key] && !$0.value.hasPrefix("error") }
        #expect(wrong.isEmpty, "\(comment): another log")
        if log.error == nil {
            let added = log.parts.filter { part in
                part.key.hasPrefix("transaction") && template.log[part.key] == nil && !part.value.hasPrefix("error")
            }
            #expect(added.count >= saves, "\(comment): \(saves) saves, \(added.count) are in the log")
        }
        if !log.logProblems.isEmpty || !log.damagedPages.isEmpty || log.error != nil {
            // Was the log as bad, and as many pages, before anything was saved?
            try reset()
            let before = try run("log", path)
            #expect(log.error == before.error || saves == 0, "\(comment): \(log.error ?? "")")
            var problems = log.logProblems.subtracting(before.logProblems)
            // A new event may change an object whose first event was damaged before.
            if !before.logProblems.isEmpty { problems = problems.filter { !$0.hasPrefix("problem chain") } }
            #expect(
                problems.isEmpty,
                "\(comment): the log is damaged after \(saves) saves")
            #expect(
                log.damagedPages.subtracting(before.damagedPages).isEmpty,
                "\(comment): more pages are damaged after \(saves) saves")
        }
        let outcome = first.hasErrors ? "error" : "right"
        print("campaign\t\(kind)\t\(outcome)\tsaves \(saves)\tlog \(log.error == nil ? log.logProblems.count : -1)")
    }
}
