import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Imports the records of a file, a number of them in each transaction. While a step is written, the next one is read.
struct ImportRun {
    let entity: EntitySchema
    let stepSize: Int
    var maker: RowMaker
    let context: ManagedObjectContext
    let mark: ImportMark
    /// The number of records that an earlier run saved.
    private(set) var resumedAfter = 0

    /// The number of records read, including skipped ones.
    private var read = 0
    /// Where the record that was read last begins, in bytes.
    private var lastStart = 0
    /// The number of records of the file that are in the store, of this run and of earlier ones.
    private(set) var doneCount = 0
    /// The same, with the step that is being written.
    private var begunCount = 0
    private var saved = Saved()
    private let start = ContinuousClock.now
    private let reason: String?
    private let insertion: BatchInsertion
    private let pending: PendingRows

    init(
        entity: EntitySchema, policy: UniquenessPolicy, stepSize: Int, maker: RowMaker,
        context: ManagedObjectContext, mark: ImportMark
    ) {
        self.entity = entity
        self.stepSize = stepSize
        self.maker = maker
        self.context = context
        self.mark = mark
        reason = context.transactionReason
        insertion = BatchInsertion(context, entityName: entity.name, onClash: policy)
        pending = PendingRows(entity)
    }

    /// Leaves out the records that an earlier run saved.
    mutating func resume(after records: Int) {
        resumedAfter = records
        doneCount = records
    }

    /// - Throws: `InputError` with the location of a record that cannot be imported.
    mutating func run(_ reader: any RecordReader, _ source: ByteSource) throws {
        do {
            try readAll(reader, source)
        } catch {
            // The records of the step that is being written come before the one with the error.
            try finish()
            throw error
        }
        try finish()
    }

    private mutating func readAll(_ reader: any RecordReader, _ source: ByteSource) throws {
        let progress = ProgressLine()
        let handler = progress.handler
        defer { progress.finish() }
        var reader = reader
        if let keys = reader.keys { try check(keys, hint: reader.hint) }
        maker.finder.pending = pending
        var savedPosition = source.position
        while Interrupt.exitCode == nil {
            lastStart = source.position
            guard let record = try next(&reader) else { return }
            if let record {
                read += 1
                guard read > resumedAfter else { continue }
                pending.append(try namingSavedOnes(record), record.location)
            }
            if read % 500 == 0 || record == nil {
                // The total is estimated from the bytes that are left.
                let total = source.size.map { Int(Double(read) * Double($0) / Double(max(source.position, 1))) } ?? 0
                handler(StoreProgress(phase: "records", done: read, total: total))
            }
            let isFull = pending.count == stepSize || source.position - savedPosition > source.recordLimit
            guard isFull || record == nil else { continue }
            savedPosition = source.position
            try save(records: read, bytes: source.position)
            if record == nil { return }
        }
    }

    /// Checks the names in the heading of a file.
    private mutating func check(_ keys: [String], hint: String) throws {
        do {
            try maker.mapping.check(keys)
            for key in keys { _ = try maker.mapping.target(of: key) }
        } catch let error as UsageError {
            throw UsageError(error.message + hint)
        }
    }

    /// The next record, which is nil at the end of the file; nil if the command was interrupted.
    private func next(_ reader: inout any RecordReader) throws -> InputRecord?? {
        do {
            return .some(try reader.next())
        } catch is ByteSource.Interrupted {
            return nil
        }
    }

    /// The row of a record. If it names one that is being written, or is read and not written, that is saved first.
    private mutating func namingSavedOnes(_ record: InputRecord) throws -> BatchValues {
        do {
            return try row(record)
        } catch is PendingRows.NamedTooEarly {
            try finish()
        }
        do {
            return try row(record)
        } catch is PendingRows.NamedTooEarly {
            try save(records: read - 1, bytes: lastStart)
            try finish()
        }
        return try row(record)
    }

    private mutating func row(_ record: InputRecord) throws -> BatchValues {
        do {
            return try maker.row(record)
        } catch let error as InputError {
            throw InputError("\(record.location): \(error.message)")
        }
    }

    /// Begins to save the rows that are read, after the step before.
    ///
    /// - Parameters:
    ///   - records: how many records of the file are done after this step.
    ///   - bytes: where the last of them ends.
    private mutating func save(records: Int, bytes: Int) throws {
        guard pending.count > 0 else { return }
        context.transactionMetadata = [:]
        context.transactionReason = reason ?? "import"
        try maker.finder.saveCreated()
        var metadata = try mark.metadata(records: records, bytes: bytes)
        metadata[HistoryTransaction.reasonKey] = reason ?? "import"
        context.transactionMetadata = metadata
        let step: BatchInsertion.Prepared
        do {
            step = try insertion.prepare(pending.rows)
        } catch {
            // An error of the step before comes first.
            try finish()
            throw Self.located(error, pending.locations)
        }
        try finish()
        pending.beginWriting()
        do {
            try insertion.begin(step)
            begunCount = records
        } catch {
            throw Self.located(error, pending.writtenLocations)
        }
    }

    /// Waits until the step that is being written is saved.
    private mutating func finish() throws {
        defer { pending.endWriting() }
        do {
            if let result = try insertion.finish() {
                saved.add(result)
                doneCount = begunCount
            }
        } catch {
            throw Self.located(error, pending.writtenLocations)
        }
    }

    /// Adds the locations of the records to an error, unless the store is damaged.
    private static func located(_ error: any Error, _ locations: [RecordLocation]) -> any Error {
        guard let error = error as? StrataError, error.code != .corrupt else { return error }
        return InputError(text(error, locations))
    }

    /// Describes the errors of a refused step, with the locations of the records.
    private static func text(_ error: StrataError, _ locations: [RecordLocation]) -> String {
        let errors = error.details.isEmpty ? [error] : error.details
        let shown = errors.prefix(10).map { "\(located($0, locations))" }
        return shown.joined(separator: "; ") + (errors.count > 10 ? "; and \(errors.count - 10) more" : "")
    }

    /// Replaces the row numbers in a message by locations in the file.
    private static func located(_ error: StrataError, _ locations: [RecordLocation]) -> String {
        var words = error.message.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.first == "Row" else { return error.commandLineText }
        var index = 0
        while index + 1 < words.count {
            let digits = words[index + 1].prefix(while: \.isNumber)
            if words[index].lowercased() == "row", let number = Int(digits), locations.indices.contains(number) {
                words[index] = locations[number].description + words[index + 1].dropFirst(digits.count)
                words.remove(at: index + 1)
            }
            index += 1
        }
        return words.joined(separator: " ")
    }

    // MARK: Reporting

    func report(json: Bool) throws {
        if read > resumedAfter {
            for key in maker.mapping.unmet.sorted() {
                Output.printError("strata: --map '\(key)=…': no record has '\(key)'.")
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let inserted = saved.count - saved.mergedCount
        if json {
            return try JSONText.print([
                "records": saved.count + saved.keptCount, "resumedAfter": resumedAfter, "inserted": inserted,
                "merged": saved.mergedCount, "skipped": saved.keptCount, "created": maker.finder.createdCount,
                "leftOut": maker.leftOutCount,
                "transactions": saved.transactionCount, "seconds": seconds, "peakBytes": PeakMemory.bytes,
            ])
        }
        var parts = ["\(ValueText.count(inserted)) inserted"]
        if saved.mergedCount > 0 { parts.append("\(ValueText.count(saved.mergedCount)) merged") }
        if saved.keptCount > 0 { parts.append("\(ValueText.count(saved.keptCount)) skipped") }
        if maker.finder.createdCount > 0 {
            parts.append("\(ValueText.count(maker.finder.createdCount)) created beside them")
        }
        if maker.leftOutCount > 0 { parts.append("\(ValueText.count(maker.leftOutCount, "link")) left out") }
        var line = "\(ValueText.count(saved.count + saved.keptCount, "record")): \(parts.joined(separator: ", ")), "
        line += "in \(ValueText.count(saved.transactionCount, "transaction"))"
        if resumedAfter > 0 { line += ", after \(ValueText.count(resumedAfter)) of an earlier run" }
        if seconds > 1 {
            let done = saved.count + saved.keptCount
            line += ", \(ValueText.count(Int(Double(done) / seconds))) records/s"
            if let bytes = PeakMemory.bytes { line += ", \(ValueText.size(bytes)) of memory at most" }
        }
        Output.shared.line(line)
    }
}

/// The sums of what the steps did.
private struct Saved {
    /// Inserted and merged objects.
    var count = 0
    var mergedCount = 0
    var keptCount = 0
    var transactionCount = 0

    mutating func add(_ step: BatchResult) {
        count += step.count
        mergedCount += step.mergedCount
        keptCount += step.keptCount
        transactionCount += step.transactionCount
    }
}

/// The most memory that this process has used at a time, including mapped pages of the store's file.
enum PeakMemory {
    /// nil if the system does not say.
    static var bytes: UInt64? {
        var usage = rusage()
        #if os(Linux)
            let unit: UInt64 = 1024
        #else
            let unit: UInt64 = 1
        #endif
        // RUSAGE_SELF, whose type on Linux differs.
        guard getrusage(0, &usage) == 0, usage.ru_maxrss > 0 else { return nil }
        return UInt64(usage.ru_maxrss) * unit
    }
}
