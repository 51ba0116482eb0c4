import Foundation
import StrataModel

/// A rollback journal beside a file (`-journal`): its meaning, and the pages that SQLite cannot take back, without an
/// error.
///
/// A journal that was left behind has the pages of the file as they were before a transaction that was not completed.
/// SQLite writes them back, up to the first page that is cut short or whose checksum is wrong. The format is that of
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
struct RollbackJournal {
    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let headerSize = 28

    /// The effect of the journal when SQLite opens the file; nil if there is none.
    private(set) var note: String?
    /// nil if everything is taken back.
    private(set) var loss: String?

    /// - Parameter path: of the store, beside which the journal lies.
    init(besideFileAt path: String) {
        guard let journal = FileHandle(forReadingAtPath: path + "-journal") else { return }
        do {
            var pages = JournalPages(
                journal, size: Int(try journal.seekToEnd()), file: FileHandle(forReadingAtPath: path))
            // A journal whose first byte is zero is of a transaction that was completed.
            guard let first = try pages.bytes(0, 1), first[0] != 0 else { return }
            if let other = try pages.nameOfSuperJournal(), !FileManager.default.fileExists(atPath: other) {
                note = "is of a transaction over several files that was completed, and is passed over"
                return
            }
            try pages.readAll()
            loss = pages.loss
            guard pages.restored > 0 else { return }
            note =
                "is of a transaction that was not completed: it is taken back, with "
                + JournalPages.count(pages.restored)
        } catch {
            loss = "cannot be read to its end"
        }
    }

    /// The pages of a journal, in the order in which SQLite writes them back.
    private struct JournalPages {
        private let journal: FileHandle
        private let size: Int
        private let file: FileHandle?
        private var sectorSize = 0
        private var pageSize = 0
        private var pageCount: UInt32 = 0
        private var nonce: UInt32 = 0
        private var done: Set<UInt32> = []
        /// The number of pages that the headers name and that were not read.
        private var unread = 0
        /// The number of pages behind those that the headers name, and that differ from those of the file.
        private var unnamed = 0
        private var fault: String?
        private var firstPage: [UInt8]?

        init(_ journal: FileHandle, size: Int, file: FileHandle?) {
            (self.journal, self.size, self.file) = (journal, size, file)
        }

        static func count(_ pages: Int) -> String { pages == 1 ? "1 page" : "\(pages) pages" }

        var restored: Int { done.count }

        var loss: String? {
            if let fault {
                let all = done.count + unread
                return unread == 0 ? fault : "\(fault): \(Self.count(unread)) of \(all) cannot be taken back"
            }
            if unnamed > 0 { return "names fewer pages than it has: \(Self.count(unnamed)) cannot be taken back" }
            return givesOtherLength ? "gives the file a length that its first page does not have" : nil
        }

        /// The first page says how many there are, if its counters are of one change.
        private var givesOtherLength: Bool {
            guard let firstPage, firstPage.count == 100, restored > 0 else { return false }
            return firstPage[24..<28] == firstPage[92..<96] && number(firstPage, 28) != pageCount
        }

        /// nil behind the end.
        func bytes(_ at: Int, _ count: Int) throws -> [UInt8]? {
            guard at >= 0, at + count <= size else { return nil }
            try journal.seek(toOffset: UInt64(at))
            let data = try journal.read(upToCount: count) ?? Data()
            return data.count == count ? Array(data) : nil
        }

        private func number(_ bytes: [UInt8], _ at: Int) -> UInt32 {
            bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// The journal of a transaction over several files, which a journal names at its end. Once it is gone, the
        /// transaction is completed.
        func nameOfSuperJournal() throws -> String? {
            guard let end = try bytes(size - 16, 16), end[8...] == magic[...] else { return nil }
            let length = Int(number(end, 0))
            guard length > 0, length <= 4096, let name = try bytes(size - 16 - length, length),
                name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }) == number(end, 4)
            else { return nil }
            return String(decoding: name, as: UTF8.self)
        }

        mutating func readAll() throws {
            var at = 0
            while let header = try bytes(at, headerSize), header[0..<8] == magic[...] {
                let isFirst = at == 0
                if isFirst {
                    (sectorSize, pageSize) = (Int(number(header, 20)), Int(number(header, 24)))
                    guard (32...65_536).contains(sectorSize), sectorSize.nonzeroBitCount == 1,
                        (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1
                    else { break }
                    pageCount = number(header, 16)
                }
                nonce = number(header, 12)
                let start = at + sectorSize
                let named = number(header, 8)
                let most = max(0, size - start) / (pageSize + 8)
                let count = named == .max ? most : Int(named)
                at = try read(count, from: start)
                guard fault == nil else { return }
                try lookBehind(at)
                at = (at + sectorSize - 1) / sectorSize * sectorSize
            }
            if firstPage == nil { firstPage = try inFile(1).map { Array($0.prefix(100)) } }
            if sectorSize == 0 || done.isEmpty && at == 0 {
                fault = "has a damaged header, and nothing of the transaction can be taken back"
            }
        }

        /// Reads the pages of one header.
        ///
        /// - Returns: where they end.
        private mutating func read(_ count: Int, from start: Int) throws -> Int {
            var at = start
            for index in 0..<count {
                guard let record = try bytes(at, pageSize + 8) else {
                    fault = "is cut short"
                    unread += count - index
                    return at
                }
                let page = number(record, 0)
                if page <= pageCount, page != 0, !done.contains(page) {
                    guard isSound(record) else {
                        fault = "has a wrong checksum"
                        unread += count - index
                        return at
                    }
                    done.insert(page)
                    if page == 1 { firstPage = Array(record[4..<4 + 100]) }
                } else if page == 0 {
                    fault = "has a page without a number"
                    unread += count - index
                    return at
                }
                at += pageSize + 8
            }
            return at
        }

        /// Counts sound pages behind those that the header names which the file has otherwise. Pages that a transaction
        /// had not synced yet stand there too, and the file has them unchanged.
        private mutating func lookBehind(_ start: Int) throws {
            var at = start
            while let record = try bytes(at, pageSize + 8) {
                let page = number(record, 0)
                guard page > 0, page <= pageCount, isSound(record) else { return }
                if !done.contains(page), try inFile(page) != record[4..<4 + pageSize] { unnamed += 1 }
                at += pageSize + 8
            }
        }

        private func inFile(_ page: UInt32) throws -> ArraySlice<UInt8>? {
            try file?.seek(toOffset: UInt64(page - 1) * UInt64(pageSize))
            return try file?.read(upToCount: pageSize).map { Array($0)[...] }
        }

        /// The checksum is of every 200th byte.
        private func isSound(_ record: [UInt8]) -> Bool {
            var sum = nonce
            for at in stride(from: pageSize - 200, to: 0, by: -200) { sum &+= UInt32(record[4 + at]) }
            return sum == number(record, 4 + pageSize)
        }
    }
}
