import ArgumentParser
import Foundation
import StrataGraph
import StrataShipping

/// Times what keeps a store for years: truncating its history, erasing an object, and restoring what was shipped.
struct UpkeepWorkload {
    struct Result: Codable {
        let measure: String
        let value: Double
        let unit: String
    }

    let objects: Int
    let changes: Int
    /// Saves of one change each, to a store that keeps a twentieth of them.
    let updates: Int
    let directory: URL
    var parts = Part.allCases
    /// Objects changed in one save.
    private static let batch = 1_000

    /// What is timed.
    enum Part: String, CaseIterable, ExpressibleByArgument { case trimming, erasing, restoring, updating }

    func run() throws -> [Result] {
        try parts.flatMap { part in
            switch part {
            case .trimming: try trimming() + trimmingBesideSaves()
            case .erasing: try erasing()
            case .restoring: try restoring()
            case .updating: try updating()
            }
        }
    }

    private func url(_ name: String) -> URL { directory.appending(path: name) }

    /// Sales, each inserted once and then changed at random.
    private func changedSales(_ name: String) throws -> StrataSales {
        let sales = try filled(name, objects)
        var random = Random(seed: 7)
        for _ in 0..<changes / Self.batch {
            try sales.raise(Array(Set((0..<Self.batch).map { _ in Int.random(in: 0..<objects, using: &random) })))
        }
        return sales
    }

    private func filled(_ name: String, _ count: Int, durability: PersistentStoreDurability = .full) throws
        -> StrataSales
    {
        let sales = try StrataSales(at: url(name), views: [], durability: durability)
        let rows = SaleRow.rows(count, shops: 1_000, seed: 3)
        for first in stride(from: 0, to: count, by: 20_000) {
            try sales.insert(rows[first..<min(count, first + 20_000)])
        }
        return sales
    }

    private func trimming() throws -> [Result] {
        let sales = try changedSales("trimmed.strata")
        let before = try size(of: "trimmed.strata")
        var dropped = 0
        let time = try nanoseconds {
            dropped = try sales.container.truncateHistory(before: .now).eventCount
        }
        sales.close()
        return [
            Result(measure: "events truncated", value: Double(dropped) / time * 1e9, unit: "a second"),
            Result(measure: "file before", value: before / 1e6, unit: "MB"),
        ]
    }

    /// Saves of a hundred objects alone, and while the history is truncated.
    private func trimmingBesideSaves() throws -> [Result] {
        let sales = try changedSales("busy.strata")
        var random = Random(seed: 9)
        func saves(while goesOn: () -> Bool) throws -> Double {
            let begin = ContinuousClock.now
            var count = 0
            while goesOn() {
                try sales.raise(
                    (0..<100).map { $0 * (objects / 100) + Int.random(in: 0..<(objects / 100), using: &random) })
                count += 1
            }
            return Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
        }
        let end = ContinuousClock.now + .seconds(3)
        let alone = try saves { ContinuousClock.now < end }
        let truncation = Truncation(sales.container)
        let beside = try saves { !truncation.isDone }
        sales.close()
        if let error = truncation.error { throw error }
        return [Result(measure: "saves beside a truncation, of those alone", value: beside / alone, unit: "times")]
    }

    /// A truncation on a thread of its own.
    private final class Truncation: @unchecked Sendable {
        private let condition = NSCondition()
        private var isOver = false
        private var failure: (any Error)?

        init(_ container: PersistentContainer) {
            Thread.detachNewThread { [self] in
                var caught: (any Error)?
                do { try container.truncateHistory(before: .now) } catch { caught = error }
                condition.withLock { (isOver, failure) = (true, caught) }
            }
        }

        var isDone: Bool { condition.withLock { isOver } }
        var error: (any Error)? { condition.withLock { failure } }
    }

    /// Objects with a thousand changes each, one after the other.
    private func erasing() throws -> [Result] {
        let sales = try filled("erased.strata", objects)
        let chosen = (0..<5).map { $0 * (objects / 5) + 3 }
        for _ in 0..<1_000 { try sales.raise(chosen) }
        let time = try median(chosen.count) { round in
            try nanoseconds { try sales.container.erase([sales.id(of: chosen[round])], reason: nil) }
        }
        sales.close()
        return [Result(measure: "erase an object with 1,000 changes", value: time / 1e6, unit: "ms")]
    }

    private func restoring() throws -> [Result] {
        let sales = try filled("shipped.strata", objects)
        let target = DirectoryTarget(url("target"))
        let ship = try nanoseconds { try sales.container.ship(to: target) }
        sales.close()
        let restore = try nanoseconds {
            try PersistentContainer.restoreStore(from: target, to: url("restored.strata"))
        }
        return [
            Result(measure: "ship \(Quantity.count(objects)) objects to a directory", value: ship / 1e9, unit: "s"),
            Result(measure: "restore them", value: restore / 1e9, unit: "s"),
        ]
    }

    /// A store of 10,000 objects that changes one of them in each save, and keeps the history of a "day".
    ///
    /// A day has a twentieth of the saves, and the history is truncated twenty times a day. The file is measured after a
    /// tenth of the saves, when it has held two days, and at the end.
    private func updating() throws -> [Result] {
        let count = 10_000
        let day = max(1, updates / 20)
        let sales = try filled("updated.strata", count, durability: .relaxed)
        var random = Random(seed: 11)
        var early = 0.0
        let time = try nanoseconds {
            for number in 1...updates {
                try sales.raise([Int.random(in: 0..<count, using: &random)])
                if number % max(1, day / 20) == 0 { try sales.container.truncateHistory(to: .transactions(day)) }
                if number == updates / 10 { early = try size(of: "updated.strata") }
            }
        }
        let late = try size(of: "updated.strata")
        sales.close()
        let saves = Quantity.count(updates)
        return [
            Result(measure: "file after \(Quantity.count(updates / 10)) saves", value: early / 1e6, unit: "MB"),
            Result(measure: "file after \(saves), of that", value: late / early, unit: "times"),
            Result(
                measure: "saves of one change, truncations among them", value: Double(updates) / time * 1e9,
                unit: "a second"),
        ]
    }

    private func size(of name: String) throws -> Double {
        let path = url(name).appending(path: "data.mdb").path(percentEncoded: false)
        return Double((try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
    }
}

/// `strata-bench upkeep [--objects 100000] [--changes 1000000]`
struct UpkeepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upkeep",
        abstract: "Times truncating, erasing and restoring, and measures the file of a store that updates for ever.")

    @Option(help: "Objects of the store.") var objects = 100_000
    @Option(help: "Changes of them, before the history is truncated.") var changes = 1_000_000
    @Option(help: "Saves of one change each, of which a store keeps a twentieth.") var updates = 1_000_000
    @Option(help: "Only this part: trimming, erasing, restoring or updating.") var only: UpkeepWorkload.Part?
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard objects >= 1_000, changes >= 1_000, updates >= 1_000 else {
            throw ValidationError("There is too little to be measured.")
        }
    }

    func run() throws {
        try folder.run { directory in
            var workload = UpkeepWorkload(objects: objects, changes: changes, updates: updates, directory: directory)
            if let only { workload.parts = [only] }
            return try workload.run()
        } print: { results in
            print("| measure | value |\n|---|--:|")
            for result in results {
                print(
                    "| \(result.measure) | \(result.value.formatted(.number.precision(.significantDigits(4)))) \(result.unit) |"
                )
            }
        }
    }
}
