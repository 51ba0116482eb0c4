import Foundation
import StrataModel

/// A Decimal in its twenty bytes of a row.
enum DecimalStorage {
    static func load(_ source: UnsafeRawPointer) -> Decimal {
        // A nil slot is all zero; bytes that are no Decimal read as not a number.
        do { return try DecimalParts(source, at: 0).decimal(at: 0) } catch { return .nan }
    }

    static func store(_ value: Decimal, to target: UnsafeMutableRawPointer) {
        DecimalParts(value).store(to: target, at: 0)
    }
}
