import Foundation
import LMDB
import Locking
import StrataModel

/// Makes the records of a large batch's groups on a thread of its own, while other threads write the log and the other
/// tables.
///
/// The second thread reads the groups as they were when the write transaction began. So the transaction must not have
/// written to their table before, and the changes must stay as they are until `finish`. Groups that need more than
/// their own record are left to the writer's thread.
///
/// `stretches` and `isOver` are guarded by `condition`. A stretch has one user at a time: the thread that fills it, then
/// the thread that takes it.
final class GroupMaking: @unchecked Sendable {
    /// Fewer groups are written about as soon as a thread starts.
    static let fewest = 256
    private static let stretchSize = 64

    /// What becomes of a group's record.
    enum Outcome { case same, put, removal, left }

    /// A group with its next record.
    struct Made {
        let number: Int
        let outcome: Outcome
        /// The key of the record, and then the record.
        let keyOffset: Int
        let recordOffset: Int
        let end: Int
    }

    /// Some groups in the order of their keys.
    final class Stretch {
        fileprivate(set) var groups: [Made] = []
        fileprivate var bytes = ByteWriter(capacity: 1 << 14)

        func key(_ group: Made) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes.bytes[group.keyOffset..<group.recordOffset])
        }

        func record(_ group: Made) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes.bytes[group.recordOffset..<group.end])
        }
    }

    private let changes: GroupChanges
    private let table: Table
    private let reading: ReadTransaction
    private let condition = NSCondition()
    private var stretches: [Stretch] = []
    private var isOver = false
    /// Only the second thread uses it until it is over.
    private var orders = OrderChanges()

    private init(_ changes: GroupChanges, _ table: Table, _ reading: ReadTransaction) {
        (self.changes, self.table, self.reading) = (changes, table, reading)
    }

    /// Starts the second thread.
    ///
    /// - Returns: nil where it would not pay, or there is no thread or reader for it. Otherwise end it with `finish`.
    static func begin(_ changes: GroupChanges, _ tables: ViewTables, _ transaction: WriteTransaction) -> GroupMaking? {
        guard changes.groups.count >= fewest, let reading = transaction.beginReadBeside() else { return nil }
        let making = GroupMaking(changes, tables.groups, reading)
        do throws(BackgroundThread.Unavailable) {
            try BackgroundThread.start("strata.groups") { making.run() }
        } catch {
            transaction.endBeside(reading)
            return nil
        }
        return making
    }

    // MARK: The second thread

    private func run() {
        let numbers = changes.table.inWritingOrder()
        var made = 0
        do {
            try reading.withCursor(table) { cursor in
                var maker = Maker()
                while made < numbers.count {
                    let end = min(made + Self.stretchSize, numbers.count)
                    let stretch = Stretch()
                    for number in numbers[made..<end] { maker.make(number, of: changes, cursor, &orders, in: stretch) }
                    hand(stretch)
                    made = end
                }
            }
        } catch {
            // The writer's thread opens a cursor of its own and meets the problem.
            let stretch = Stretch()
            stretch.groups = numbers[made...].map {
                Made(number: $0, outcome: .left, keyOffset: 0, recordOffset: 0, end: 0)
            }
            hand(stretch)
        }
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }

    private func hand(_ stretch: Stretch) {
        condition.withLock {
            stretches.append(stretch)
            condition.broadcast()
        }
    }

    /// The memory in which one record after another is made.
    private struct Maker: ~Copyable {
        private var merge = GroupMerge()
        private var key = ByteWriter(capacity: 256)
        private var others = NoOtherValues()

        mutating func make(
            _ number: Int, of changes: GroupChanges, _ cursor: Cursor, _ orders: inout OrderChanges, in stretch: Stretch
        ) {
            let start = stretch.bytes.count
            var outcome = Outcome.left
            do {
                if !changes.groups[number].view.hasProjections {
                    outcome = try makeRecord(number, of: changes, cursor, &orders)
                }
            } catch {
                // The writer's thread makes this record, and meets the problem if it is one.
            }
            stretch.bytes.append(key.bytes)
            let recordOffset = stretch.bytes.count
            if case .put = outcome { stretch.bytes.append(merge.record.bytes) }
            stretch.groups.append(
                Made(
                    number: number, outcome: outcome, keyOffset: start, recordOffset: recordOffset,
                    end: stretch.bytes.count))
        }

        private mutating func makeRecord(
            _ number: Int, of changes: GroupChanges, _ cursor: Cursor, _ orders: inout OrderChanges
        ) throws -> Outcome {
            let whole = changes.table.key(number)
            key.reset()
            ViewKeys.append(group: whole, to: &key)
            let rest = UnsafeRawBufferPointer(rebasing: whole[ViewKeys.numberSize...])
            let before = try cursor.seek(to: key.bytes) ? cursor.value : nil
            let rowCount = try merge.merge(
                number, of: changes, before, key: key.bytes, wholeKey: key.count == whole.count ? nil : rest, &others)
            let after = rowCount > 0 ? merge.record.bytes : nil
            let view = changes.groups[number].view
            if !view.orders.isEmpty { try orders.change(view, key.bytes, rest, from: before, to: after) }
            guard let after else { return before == nil ? .same : .removal }
            return before.map { after.isSame(as: $0) } == true ? .same : .put
        }
    }

    // MARK: The writer's thread

    /// Waits for the stretch with a number; nil if there is none.
    func stretch(_ number: Int) -> Stretch? {
        condition.withLock {
            while stretches.count <= number, !isOver { condition.wait() }
            return stretches.count > number ? stretches[number] : nil
        }
    }

    /// The changes of orders that the made groups bring, once all stretches were taken.
    func takeOrders() -> OrderChanges {
        var taken = OrderChanges()
        swap(&taken, &orders)
        return taken
    }

    /// Waits until the thread uses neither the changes nor the tables.
    func finish(_ transaction: WriteTransaction) {
        condition.withLock {
            while !isOver { condition.wait() }
        }
        transaction.endBeside(reading)
    }
}

/// Stands for the values that a record does not have itself where they cannot be read: a record that needs them is not
/// made.
private struct NoOtherValues: OtherValues, ~Copyable {
    private struct Needed: Error {}

    var areKept: Bool { true }
    mutating func begin(_ group: UnsafeRawBufferPointer, _ aggregate: Int) {}
    mutating func count(of value: UnsafeRawBufferPointer) throws -> Int64 { throw Needed() }
    mutating func set(_ value: UnsafeRawBufferPointer, to count: Int64) throws { throw Needed() }
    mutating func first() throws -> (value: [UInt8], count: Int64)? { throw Needed() }
}
