import Foundation
import StrataModel

/// Finds texts in the records of transactions that hold erased values.
struct ErasedTexts {
    /// Under this key a context notes the conflicts that its merge policy decided, with the values of both sides.
    static let conflictsKey = "strata.conflicts"
    /// By their first four bytes.
    private let texts: [UInt32: [[UInt8]]]
    private let wholeTexts: Set<String>
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
        wholeTexts = texts
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
        if let conflicts = record.metadata[Self.conflictsKey],
            isTouched || names(conflicts) || hasUniqueValue(conflicts)
        {
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

    /// Whether a note says that another object did not get an erased text because it must be unique. Notes of earlier
    /// versions do not name the object that had it. They write the text as the value of both sides, and no base.
    ///
    /// - Returns: true also for a note that cannot be read, because it may have the text.
    private func hasUniqueValue(_ conflicts: String) -> Bool {
        do {
            let notes = try JSONDecoder().decode([Note].self, from: Data(conflicts.utf8))
            return notes.flatMap(\.conflict.properties).contains { property in
                guard case .string(let text) = property.theirs else { return false }
                return property.base.isNull && property.mine == property.theirs && wholeTexts.contains(text)
            }
        } catch {
            return true
        }
    }

    /// What an erasure has to know of a note of a conflict.
    private struct Note: Decodable {
        struct Conflict: Decodable {
            let properties: [Property]
        }
        struct Property: Decodable {
            let base: AttributeValue
            let theirs: AttributeValue
            let mine: AttributeValue
        }
        let conflict: Conflict
    }
}
