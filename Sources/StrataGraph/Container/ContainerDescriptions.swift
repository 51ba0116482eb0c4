import Foundation
import StrataModel

// Descriptions, as `print` shows them, of a container's history, reports and settings.

extension HistoryToken: CustomStringConvertible {
    /// The transaction and the store.
    public var description: String { "after transaction \(transaction) of store \(storeIdentifier)" }
}

extension TransactionChanges: CustomStringConvertible {
    /// The transaction.
    public var description: String { "\(transaction)" }
}

extension HistorySubscription: CustomStringConvertible {
    /// The name: `subscription "index"`.
    public var description: String { "subscription \(name.debugDescription)" }
}

extension DeletedObject: CustomStringConvertible {
    /// The object, the event that deleted it, and its last values.
    public var description: String {
        let values = event.changes.filter { !$0.before.isNull }.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.text($0.before))" }.joined(separator: ", ")
        let head = "\(objectID.named(entityName)) deleted at event \(event.eventNumber)"
        return values.isEmpty ? head : "\(head); \(values)"
    }
}

extension HistoryHolder: CustomStringConvertible {
    /// The holder and the first event that it needs: `tag "release" from event 34`.
    public var description: String {
        "\(kind.rawValue)\(name.map { " \($0.debugDescription)" } ?? "") from event \(eventNumber)"
    }
}

extension HistoryTruncation: CustomStringConvertible {
    /// The counts of what was dropped, and where the history begins now.
    public var description: String {
        let counts = "\(CountText.of(transactionCount, "transaction")), \(CountText.of(eventCount, "event")) dropped"
        return "\(counts)\(baseline.map { "; the history begins after \($0)" } ?? "")\(HolderText.of(holders))"
    }
}

extension HistoryThinning: CustomStringConvertible {
    /// The number of events that lost values, and the last of them.
    public var description: String {
        let end = eventNumber.map { " up to event \($0)" } ?? ""
        return "\(CountText.of(eventCount, "event")) without replaced values\(end)\(HolderText.of(holders))"
    }
}

private enum HolderText {
    static func of(_ holders: [HistoryHolder]) -> String {
        holders.isEmpty ? "" : "; held by \(holders.map(\.description).joined(separator: ", "))"
    }
}

extension Erasure: CustomStringConvertible {
    /// The event, the numbers of objects and events, when, by whom and why.
    public var description: String {
        let what = attributes.isEmpty ? "" : attributes.joined(separator: ", ") + " of "
        let by = author.map { " by \($0)" } ?? ""
        return "event \(eventNumber): \(what)\(CountText.of(objectIDs.count, "object")) erased\(by), \(date), "
            + CountText.of(eventCount, "event") + (reason.map { ": \($0)" } ?? "")
    }
}

extension ErasureResult: CustomStringConvertible {
    /// The counts of objects, events and keys, and the work that is left.
    public var description: String {
        var text = "\(CountText.of(objectIDs.count, "object")) erased, \(CountText.of(eventCount, "event"))"
        let more = CountText.of([
            (deletedCount, "deleted"), (destroyedKeyCount, "keys destroyed"), (missingKeyCount, "keys missing"),
        ])
        if !more.isEmpty { text += ", \(more)" }
        return isComplete ? text : "\(text); waiting: \(waiting.joined(separator: ", "))"
    }
}

extension StoreVerification: CustomStringConvertible {
    /// Whether the store is sound, the volume that was read, and the problems.
    public var description: String {
        let counts = [
            CountText.of(transactionCount, "transaction"), CountText.of(eventCount, "event"),
            CountText.of(objectCount, "object"),
        ].joined(separator: ", ")
        let views = uncheckedViews.isEmpty ? "" : "; not compared: \(uncheckedViews.joined(separator: ", "))"
        return "\(ProblemText.of(problems, problemCount)) (\(counts))\(views)"
    }
}

extension StoreScrub: CustomStringConvertible {
    /// Whether the pages are sound, how many there are, and the problems.
    public var description: String {
        "\(ProblemText.of(problems, problems.count)) (\(CountText.of(pageCount, "page")))"
    }
}

extension StoreRebuild: CustomStringConvertible {
    /// The number of views and events of the rebuild, and the views that changed.
    public var description: String {
        let changed = views.filter { !$0.isEqual }.map(\.name).joined(separator: ", ")
        let counts = "\(CountText.of(views.count, "view")) of \(CountText.of(eventCount, "event"))"
        return changed.isEmpty ? "\(counts), unchanged" : "\(counts); changed: \(changed)"
    }
}

private enum ProblemText {
    static func of(_ problems: [String], _ count: Int) -> String {
        if count == 0 { return "sound" }
        let list = problems.joined(separator: "; ")
        return "\(CountText.of(count, "problem"))\(list.isEmpty ? "" : ": \(list)")"
    }
}

extension StoreUsage: CustomStringConvertible {
    /// The head and the sizes in bytes.
    public var description: String {
        "transaction \(transaction), event \(event); \(fileSizeInBytes) bytes: log \(logSizeInBytes), "
            + "views \(viewSizeInBytes), buffers \(bufferSizeInBytes), free \(freeSizeInBytes)"
    }
}

extension ViewStatus: CustomStringConvertible {
    /// The name, the state and how far it is behind: `StudioSales: live, 3 events behind`.
    public var description: String {
        var text = "\(name): \(state)"
        if lagInEvents > 0 { text += ", \(CountText.of(lagInEvents, "event")) behind" }
        return leftOutObjects.isEmpty ? text : "\(text), without \(CountText.of(leftOutObjects.count, "object"))"
    }
}

extension ViewStatus.State: CustomStringConvertible {
    /// `live`, how much is built, or why it failed.
    public var description: String {
        switch self {
        case .live: "live"
        case .building(let part): "\(Int(part * 100)) % built"
        case .failed(let failure): "failed at \(failure)"
        }
    }
}

extension ViewFailureReport: CustomStringConvertible {
    /// The event, the object and the reason.
    public var description: String {
        let object = objectID.isNil ? "" : ", object \(objectID)"
        return "event \(eventNumber)\(object): \(reason)"
    }
}

extension SharedLogState: CustomStringConvertible {
    /// The log, the store's place in it, and the problem.
    public var description: String {
        var text = "\(name): transaction \(transaction) of \(end), \(isReachable ? "reachable" : "not reachable")"
        if let failure { text += "; \(failure)" }
        return problem.map { "\(text); \($0.message)" } ?? text
    }
}

extension SharedLogHolder: CustomStringConvertible {
    /// The holder and the first transaction that it needs.
    public var description: String { "\(kind.rawValue) \(name) from transaction \(transaction)" }
}

extension SharedLogTrim: CustomStringConvertible {
    /// The number of transactions that were dropped, and the holders of those that were not.
    public var description: String {
        let counts = "\(CountText.of(transactionCount, "transaction")) dropped before transaction \(transaction)"
        return holders.isEmpty ? counts : "\(counts); held by \(holders.map(\.description).joined(separator: ", "))"
    }
}

extension MigrationStage: CustomStringConvertible {
    /// The label and the model.
    public var description: String { "\(label): \(model)" }
}

extension FrozenObject: CustomStringConvertible {
    /// The object and its moment: `Movie/p1 at event 34`.
    public var description: String { "\(objectID.named(entityName)) at event \(eventNumber)" }
}

extension CompiledFetchRequest: CustomStringConvertible {
    /// The request.
    public var description: String { "\(request)" }
}
