// The arguments of `strata import` for a file of Core Data, and the import itself.

import ArgumentParser
import Foundation
import StrataCoreData
import StrataModel
import StrataStore

/// The treatment of faults in a file of Core Data by `import`.
enum FaultWay: String, ExpressibleByArgument, CaseIterable {
    case refuse, repair, list

    var treatment: CoreDataFaultTreatment {
        switch self {
        case .refuse: .refuse
        case .repair: .repair
        case .list: .list
        }
    }
}

/// The form that `import` gives to transformables in a file of Core Data.
enum TransformableForm: String, ExpressibleByArgument, CaseIterable {
    case bytes, codable

    var transformables: CoreDataTransformables {
        switch self {
        case .bytes: .bytes
        case .codable: .codable
        }
    }
}

/// The arguments of `import` for a store of Core Data, and what it does with them.
struct CoreDataArguments: ParsableArguments {
    @Option(help: ArgumentHelp("Make a store here of a SQLite file of Core Data or SwiftData.", valueName: "store"))
    var into: String?
    @Flag(help: "Say what of a file of Core Data would come over, and its faults.") var check = false
    @Flag(help: "Compare each row and link of a file of Core Data with the store made from it.") var verify = false
    @Option(help: ArgumentHelp("A model in place of the one in the file of Core Data.", valueName: "model"))
    var model: String?
    @Option(help: ArgumentHelp("The version of that model; by default the current one.", valueName: "version"))
    var modelVersion: String?
    @Flag(help: "Make the model of the tables of a file of Core Data whose own cannot be read.")
    var modelFromTables = false
    @Option(
        help: ArgumentHelp(
            "For faults in a file of Core Data: refuse, repair (what has a rule), or list (bring over as it is).",
            valueName: "way"))
    var onFault = FaultWay.repair
    @Option(
        help: ArgumentHelp(
            "For transformables in a file of Core Data: bytes (as archived), or codable (values, where all archives of "
                + "an attribute are of plain Foundation objects).", valueName: "form"))
    var transformables = TransformableForm.bytes

    static let help = """
        --into makes a new store of a SQLite file of Core Data or SwiftData. The model is the one in the file, or \
        what --model names; files from before 2016 have none, and then the tables say what they can, as they do with \
        --model-from-tables for a file whose model is damaged. The file is only read. The store appears when it is complete; after an interruption the same command goes on. --check \
        makes nothing and lists faults, each with its entity, key and what an import does about it by --on-fault; exit \
        code 1 if there is any. Faults are keys that lead nowhere, one-to-ones with one end, places in lists that are \
        missing or shared, rows of unknown entities, values of other types or out of range, required values that are \
        nil, values that break rules or are not unique, and changes in the -wal file that cannot be \
        read, or that the -journal file cannot take back. \
        --transformables codable makes values of archives of plain Foundation objects. The \
        persistent history becomes transactions that have the rows they were the last to change, with author and, in \
        their metadata, date, context, bundle and process; the others become notes. --verify compares every row and \
        link of the file with the store. It lists the differences, and counts by kind of fault what the import left out \
        or changed and whether that counts as different; exit code 1 if any row or link does. SQLite (libsqlite3) must be installed.
        """

    /// Whether the command is about a file of Core Data.
    var isAsked: Bool { into != nil || check || verify }

    private var options: CoreDataImportOptions {
        var options = CoreDataImportOptions()
        options.model = model.map { URL(filePath: $0) }
        options.modelVersion = modelVersion
        options.modelSource = modelFromTables ? .tables : .file
        options.onFault = onFault.treatment
        options.transformables = transformables.transformables
        return options
    }

    func validate() throws {
        guard [into != nil, check, verify].filter({ $0 }).count <= 1 else {
            throw ValidationError("--into, --check and --verify exclude each other.")
        }
        guard !modelFromTables || model == nil else {
            throw ValidationError("--model and --model-from-tables exclude each other.")
        }
    }

    /// - Parameters:
    ///   - file: the file of Core Data.
    ///   - other: the store to compare it with.
    func run(_ file: String, _ other: String?, json: Bool) throws {
        if verify { return try compare(file, other, json: json) }
        if other != nil { throw UsageError("--into and --check take one file.") }
        Interrupt.watch()
        let progress = ProgressLine()
        defer { progress.finish() }
        let start = ContinuousClock.now
        let importer = try CoreDataImporter(file, options: options, progress: progress.handler) {
            Interrupt.exitCode != nil
        }
        do {
            let report =
                if let into {
                    try importer.run(into: URL(filePath: into, directoryHint: .isDirectory))
                } else {
                    try importer.check()
                }
            progress.finish()
            try print(report, seconds: (ContinuousClock.now - start) / .seconds(1), json: json)
            if check, report.faultCount > 0 { throw ExitStatus.FoundProblem() }
        } catch is CoreDataImporter.Interrupted {
            progress.finish()
            Output.printError("strata: interrupted; the same command goes on where it was.")
            throw ExitCode(Interrupt.exitCode ?? 130)
        }
    }

    private func print(_ report: CoreDataImportReport, seconds: Double, json: Bool) throws {
        if json {
            return try JSONText.print([
                "model": report.modelSource, "rows": report.rows,
                "entities": report.entities.map { ["name": $0.name, "rows": $0.rows] as JSONObject },
                "pairs": report.pairs, "history": history(report), "resumed": report.wasResumed,
                "notes": report.notes, "faults": report.faults.map(\.description),
                "faultCounts": Dictionary(
                    uniqueKeysWithValues: report.faultCounts.map { ($0.key.rawValue, $0.value) }),
                "seconds": seconds, "peakBytes": PeakMemory.bytes,
            ])
        }
        for note in report.notes { Output.printError("note: \(note)") }
        for entity in report.entities { Output.shared.line("\(entity.name): \(ValueText.count(entity.rows))") }
        for fault in report.faults { Output.shared.line("\(fault.kind.rawValue): \(fault)") }
        let hidden = report.faultCount - report.faults.count
        if hidden > 0 { Output.shared.line("and \(ValueText.count(hidden)) more faults") }
        var parts = ["\(ValueText.count(report.rows, "object")), \(ValueText.count(report.pairs, "pair"))"]
        if report.history.transactions > 0 { parts.append(historyText(report.history)) }
        parts.append("\(ValueText.count(report.faultCount, "fault")), by \(report.modelSource)")
        if report.wasResumed { parts.append("after an earlier run") }
        Output.shared.line((into.map { "\($0): " } ?? "") + parts.joined(separator: ", "))
    }

    private func history(_ report: CoreDataImportReport) -> JSONObject {
        let history = report.history
        return [
            "transactions": history.transactions, "chained": history.chained, "partial": history.partial,
            "notes": history.notes,
        ]
    }

    private func historyText(_ history: CoreDataImportReport.History) -> String {
        var text = "\(ValueText.count(history.chained)) of "
        text += "\(ValueText.count(history.transactions, "transaction")) of history as transactions"
        if history.partial > 0 { text += " (\(ValueText.count(history.partial)) in part)" }
        if history.notes > 0 { text += ", \(ValueText.count(history.notes)) as notes" }
        return text
    }

    private func compare(_ file: String, _ store: String?, json: Bool) throws {
        guard let store else { throw UsageError("--verify takes the file and the store that was made from it.") }
        let progress = ProgressLine()
        defer { progress.finish() }
        let result = try StoreArguments(path: store).reading { store in
            try CoreDataVerification.run(file, store, options: options, progress: progress.handler)
        }
        progress.finish()
        if json {
            try JSONText.print([
                "equal": result.isEqual, "rows": result.rows.total, "equalRows": result.rows.equal,
                "values": result.values.total, "equalValues": result.values.equal,
                "links": result.links.total, "equalLinks": result.links.equal,
                "derived": result.derived.total, "equalDerived": result.derived.equal,
                "danglingKeys": result.danglingKeys, "additional": result.additional,
                "differences": result.differences, "differenceCount": result.differenceCount,
                "faultCounts": Dictionary(
                    uniqueKeysWithValues: result.faultCounts.map { ($0.key.rawValue, $0.value) }),
            ])
        } else {
            print(result)
        }
        if !result.isEqual { throw ExitStatus.FoundProblem() }
    }

    private func print(_ result: CoreDataComparison) {
        for difference in result.differences { Output.shared.line(difference) }
        let hidden = result.differenceCount - result.differences.count
        if hidden > 0 { Output.shared.line("and \(ValueText.count(hidden)) more differences") }
        for explanation in result.explanations { Output.shared.line(explanation) }
        func part(_ count: CoreDataComparison.Count, _ word: String) -> String {
            "\(ValueText.count(count.equal)) of \(ValueText.count(count.total, word))"
        }
        var parts = [part(result.rows, "row"), part(result.links, "link")]
        if result.derived.total > 0 { parts.append(part(result.derived, "derived value")) }
        let list = parts.joined(separator: ", ")
        var line = result.isEqual ? "equal: \(list)" : "different: \(list) are equal"
        if result.additional > 0 { line += "; \(ValueText.count(result.additional, "object")) only in the store" }
        Output.shared.line(line)
    }
}
