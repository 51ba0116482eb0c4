import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Imports the records of a file, a number of them in each transaction.
struct ImportRun {
    let entity: EntitySchema
    let policy: UniquenessPolicy
    let stepSize: Int
    var maker: RowMaker
    let context: ManagedObjectContext
    let mark: ImportMark
    /// The number of records that an earlier run saved.
    var resumedAfter = 0

    /// The number of records read, including skipped ones.
    private var read = 0
    private var saved = Saved()
    private let start = ContinuousClock.now
    private let reason: String?

    init(
        entity: EntitySchema, policy: UniquenessPolicy, stepSize: Int, maker: RowMaker,
        context: ManagedObjectContext, mark: ImportMark
    ) {
        self.entity = entity
        self.policy = policy
        self.stepSize = stepSize
        self.maker = maker
        self.context = context
        self.mark = mark
        reason = context.transactionReason
    }

    /// - Throws: `InputError` with the location of a record that cannot be imported.
    mutating func run(_ reader: any RecordReader, _ source: ByteSource) throws {
        let progress = ProgressLine()
        let handler = progress.handler
        defer { progress.finish() }
        var reader = reader
        if let keys = reader.keys { try maker.mapping.check(keys) }
        let pending = PendingRows(entity)
        maker.finder.pending = pending
        var savedPosition = source.position
        while Interrupt.exitCode == nil {
            guard let record = try next(&reader) else { return }
            if let record {
                read += 1
                guard read > resumedAfter else { continue }
                do {
                    pending.append(try row(record), record.location)
                } catch is PendingRows.NamedTooEarly {
                    try save(pending, records: read - 1)
                    pending.append(try row(record), record.location)
                }
            }
            if read % 500 == 0 || record == nil {
                // The total is estimated from the bytes that are left.
                let total = source.size.map { Int(Double(read) * Double($0) / Double(max(source.position, 1))) } ?? 0
                handler(StoreProgress(phase: "records", done: read, total: total))
            }
            let isFull = pending.rows.count == stepSize || source.position - savedPosition > source.recordLimit
            guard isFull || record == nil else { continue }
            savedPosition = source.position
            if !pending.rows.isEmpty { try save(pending, records: read) }
            if record == nil { return }
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

    private mutating func row(_ record: InputRecord) throws -> BatchRow<ManagedObject> {
        do {
            return try maker.row(record)
        } catch let error as InputError {
            throw InputError("\(record.location): \(error.message)")
        }
    }

    /// - Parameter records: how many records of the file are done after this step.
    private mutating func save(_ pending: PendingRows, records: Int) throws {
        let rows = pending.rows
        context.transactionMetadata = [:]
        context.transactionReason = reason ?? "import"
        try maker.finder.saveCreated()
        var metadata = mark.metadata(records: records)
        metadata[HistoryTransaction.reasonKey] = reason ?? "import"
        context.transactionMetadata = metadata
        var request = BatchInsertRequest<ManagedObject>(entityName: entity.name, rows: rows, onClash: policy)
        request.stepSize = rows.count
        do {
            saved.add(try context.execute(request))
        } catch let error as StrataError where error.code != .corrupt {
            throw InputError(Self.text(error, pending.locations))
        }
        pending.removeAll()
    }

    /// Describes the errors of a refused step, with the locations of the records.
    private static func text(_ error: StrataError, _ locations: [String]) -> String {
        let errors = error.details.isEmpty ? [error] : error.details
        let shown = errors.prefix(10).map { "\(located($0, locations))" }
        return shown.joined(separator: "; ") + (errors.count > 10 ? "; and \(errors.count - 10) more" : "")
    }

    /// Replaces the row numbers in a message by locations in the file.
    private static func located(_ error: StrataError, _ locations: [String]) -> String {
        var words = error.message.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.first == "Row" else { return error.commandLineText }
        var index = 0
        while index + 1 < words.count {
            let digits = words[index + 1].prefix(while: \.isNumber)
            if words[index].lowercased() == "row", let number = Int(digits), locations.indices.contains(number) {
                words[index] = locations[number] + words[index + 1].dropFirst(digits.count)
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
