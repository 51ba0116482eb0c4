import Foundation
import StrataModel

/// Finds texts in the records of transactions that hold erased values.
struct ErasedTexts {
    /// Under this key a context notes the conflicts that its merge policy decided, with the values of both sides.
    static let conflictsKey = "strata.conflicts"
    /// By their first four bytes.
    private let texts: [UInt32: [[UInt8]]]
    /// The numbers of the objects, as that note writes them.
    private let numbers: Set<String>

    /// - Parameter texts: each of at least four bytes.
    init(_ texts: Set<String>, _ objects: [ObjectID]) {
        var byStart: [UInt32: [[UInt8]]] = [:]
        for text in texts {
            let bytes = Array(text.utf8)
            bytes.withUnsafeBytes { byStart[$0.loadUnaligned(as: UInt32.self), default: []].append(bytes) }
        }
        self.texts = byStart
        numbers = Set(objects.map { String($0.rawValue) })
    }

    func hasConflicts(_ record: UnsafeRawBufferPointer) -> Bool {
        Self.conflictsKey.utf8.withContiguousStorageIfAvailable { key in
            record.contains(UnsafeRawBufferPointer(key))
        } ?? true
    }

    /// Removes author, names and metadata that contain an erased text from a transaction that changed the objects, and
    /// notes of conflicts about the objects from any.
    ///
    /// - Returns: whether the record has changed.
    func removeTexts(from record: inout TransactionRecord, isTouched: Bool) -> Bool {
        let before = record
        if let conflicts = record.metadata[Self.conflictsKey], isTouched || names(conflicts) {
            record.metadata[Self.conflictsKey] = nil
        }
        guard isTouched else { return record != before }
        for (key, value) in record.metadata where isErased(value) || isErased(key) { record.metadata[key] = nil }
        if record.author.map(isErased) ?? false { record.author = nil }
        if record.contextName.map(isErased) ?? false { record.contextName = nil }
        return record != before
    }

    private func isErased(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { bytes in
            guard bytes.count >= 4 else { return false }
            return (0...bytes.count - 4).contains { start in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                return texts[rest.loadUnaligned(as: UInt32.self)]?.contains { text in
                    text.withUnsafeBytes { rest.hasPrefix($0) }
                } ?? false
            }
        }
    }

    private func names(_ conflicts: String) -> Bool {
        conflicts.split { !$0.isASCII || !$0.isNumber }.contains { numbers.contains(String($0)) }
    }
}
