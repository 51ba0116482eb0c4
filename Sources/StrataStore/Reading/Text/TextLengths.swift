import LMDB
import StrataModel

/// Reads how many words texts have.
struct TextLengths {
    private let text: PreparedText
    private let table: Table
    private let transaction: ReadTransaction

    init(_ text: PreparedText, _ table: Table, _ transaction: ReadTransaction) {
        (self.text, self.table, self.transaction) = (text, table, transaction)
    }

    /// The lengths of a group's texts.
    struct Record {
        private let members: UnsafeRawBufferPointer
        private let bits: GroupBits
        private let lengths: UnsafeRawPointer?

        init(_ bytes: UnsafeRawBufferPointer?) throws(CorruptRecord) {
            guard let bytes, let base = bytes.baseAddress else {
                members = .empty
                bits = .zero
                lengths = nil
                return
            }
            let count = Int(bytes.first ?? 0) + 1
            guard bytes.count == 1 + count * 5 else { throw CorruptRecord("lengths cut short", at: bytes.count) }
            members = UnsafeRawBufferPointer(start: base + 1, count: count)
            var bits = GroupBits.zero
            for member in members { bits.insert(member) }
            self.bits = bits
            lengths = base + 1 + count
        }

        /// The number of words of an object; nil if the lists do not have it.
        @inline(__always)
        func length(_ member: UInt8) -> Int? {
            guard let lengths, bits.contains(member) else { return nil }
            let offset = bits.rank(of: member) * 4
            return Int(UInt32(littleEndian: lengths.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }

        func forEach(_ body: (UInt8, UInt32) -> Void) {
            for member in members { body(member, UInt32(length(member) ?? 0)) }
        }
    }

    func record(_ group: UInt64) throws -> Record {
        var key = ByteWriter(capacity: 16)
        TextKey.lengths(text.id, group, into: &key)
        let bytes = try transaction.get(table, key.bytes)
        do throws(CorruptRecord) { return try Record(bytes) } catch {
            throw StrataError.corrupt(error, "viewTexts", text.context)
        }
    }

    /// The number of objects, and of the words of all of them.
    func whole() throws -> (objects: Int, words: Int) {
        var key = ByteWriter(capacity: 16)
        TextKey.begin(text.id, TextKey.whole, into: &key)
        guard let bytes = try transaction.get(table, key.bytes) else { return (0, 0) }
        return try Self.whole(bytes, text)
    }

    static func whole(_ bytes: UnsafeRawBufferPointer, _ text: PreparedText) throws -> (objects: Int, words: Int) {
        do throws(CorruptRecord) {
            var reader = ByteReader(bytes)
            let objects = try reader.readInteger(as: UInt64.self)
            let words = try reader.readInteger(as: UInt64.self)
            guard objects < 1 << 56, words < 1 << 62 else { throw CorruptRecord("number out of range", at: 0) }
            return (Int(objects), Int(words))
        } catch {
            throw StrataError.corrupt(error, "viewTexts", text.context)
        }
    }
}
