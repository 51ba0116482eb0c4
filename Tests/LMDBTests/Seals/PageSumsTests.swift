import CChecksum
import Foundation
import Glibc
@testable import LMDB
import Testing

/// The sums of pages: after each commit they are those of the pages, and every changed page is found.
@Suite struct PageSumsTests {
    let store = TemporaryStore()

    // MARK: Sums

    /// The vectors of RFC 3720, B.4, and the usual one.
    @Test func theChecksumIsCRC32C() {
        let vectors: [([UInt8], UInt32)] = [
            (Array("123456789".utf8), 0xE306_9283),
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            ([UInt8](0..<32), 0x46DD_794E),
        ]
        for (bytes, sum) in vectors {
            #expect(checksum_crc32c(0, bytes, bytes.count) == sum)
            #expect(checksum_crc32c_by_table(0, bytes, bytes.count) == sum)
            let half = checksum_crc32c(0, bytes, 5)
            #expect(checksum_crc32c(half, Array(bytes[5...]), bytes.count - 5) == sum)
        }
    }

    @Test func theSumOfAPageIsTheSameWithoutTheInstruction() {
        var random = SplitMix(state: 1)
        for size in [512, 4096, 32_768] {
            let page = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            for number: UInt64 in [2, 3, 1 << 40] {
                #expect(checksum_of_page(page, size, number) == checksum_of_page_by_table(page, size, number))
            }
            #expect(checksum_of_page(page, size, 2) != checksum_of_page(page, size, 3))
        }
    }

    @Test func everyBitOfAPageCounts() {
        var random = SplitMix(state: 2)
        var page = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
        let sum = checksum_of_page(page, 4096, 7)
        var equalCount = 0
        for bit in 0..<8 * 4096 {
            page[bit / 8] ^= 1 << (bit % 8)
            if checksum_of_page(page, 4096, 7) == sum { equalCount += 1 }
            page[bit / 8] ^= 1 << (bit % 8)
        }
        #expect(equalCount == 0)
    }

    // MARK: Commits

    @Test(arguments: [1, 2, 3] as [UInt64]) func everyCommitIsSealed(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let environment = try store.open()
        let tables = try environment.openTables(["a", "b", "c", "d"])
        for round in 0..<60 {
            let count = [1, 3, 20, 400].randomElement(using: &random)!
            // A reader keeps pages from being used again, now and then.
            let reader = round % 7 == 3 ? try environment.beginRead() : nil
            try environment.change(tables, count, &random)
            try environment.change(tables, 2, &random)
            if let reader { environment.end(reader) }
            let report = try environment.checkPages()
            #expect(report.hasSums && report.isSound && report.damagedEntryCount == 0, "round \(round): \(report)")
            let survey = try environment.surveyPages()
            #expect(survey.problems.isEmpty && survey.hasSums, "round \(round): \(survey.problems)")
            let info = try environment.info()
            #expect(report.pageCount == info.lastPage - 1 - info.freePageCount, "round \(round)")
        }
        #expect(environment.wholeSealCount == 1)
        try environment.close()
        let again = try store.open { $0.access = .readOnly }
        #expect(try again.checkPages().hasSums)
        try again.close()
    }

    @Test func aCommitOfNothingKeepsTheSeal() throws {
        try store.fill()
        let environment = try store.open()
        try environment.write { _ in }
        try environment.write { _ in }
        #expect(environment.wholeSealCount == 0)
        #expect(try environment.checkPages().hasSums)
        try environment.close()
    }

    // MARK: Damage

    @Test func everyChangedPageIsFound() throws {
        try store.fill(2000)
        let sound = try store.dataBytes()
        let report = try check()
        #expect(report.isSound && report.hasSums && report.pageCount > 20)
        var found = 0
        for page in 2..<sound.count / 4096 {
            var bytes = sound
            bytes[page * 4096 + (page * 97) % 4096] ^= 0x10
            try store.overwrite(bytes)
            let report = try check()
            #expect(report.damages.map(\.page) == [UInt64(page)] || report.isSound)
            found += report.damages.count
        }
        #expect(found == report.pageCount)
        try store.overwrite(sound)
        #expect(try check().isSound)
    }

    @Test func anOlderAndAnotherPageInItsPlaceAreFound() throws {
        try store.fill(2000)
        let old = try store.dataBytes()
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for round in 0..<40 as Range<UInt64> {
            try environment.write { transaction in
                for key in 0..<2000 as Range<UInt64> where key % 40 == round {
                    try transaction.put(table, key, [UInt8](repeating: UInt8(round), count: 100))
                }
            }
        }
        try environment.close()
        let new = try store.dataBytes()
        var found = 0
        for page in 2..<old.count / 4096 - 1 {
            for other in [old[page * 4096..<(page + 1) * 4096], new[(page + 1) * 4096..<(page + 2) * 4096]] {
                var bytes = new
                guard bytes[page * 4096..<(page + 1) * 4096] != other else { continue }
                bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: other)
                try store.overwrite(bytes)
                found += try check().damages.count
            }
        }
        #expect(found > 20)
    }

    /// A page is admitted if and only if it is the one that was written.
    @Test(arguments: [5, 6] as [UInt64]) func noDamagedPageIsAdmitted(seed: UInt64) throws {
        try store.fill(3000)
        let sound = try store.dataBytes()
        let used = try check().pageCount
        var random = SplitMix(state: seed)
        var (headCount, pageCount) = (0, 0)
        for _ in 0..<150 {
            var bytes = sound
            let offset = Int.random(in: 0..<bytes.count, using: &random)
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try store.overwrite(bytes)
            do {
                let refused = try refusedPages(sound.count / 4096)
                #expect(refused == [] || refused == [UInt64(offset / 4096)])
                pageCount += refused.count
            } catch let error as LMDBError {
                #expect(offset < 8192, "\(error)")
                headCount += 1
            }
        }
        #expect(pageCount > 100 && used > 80, "\(headCount) heads and \(pageCount) pages of \(used) refused")
    }

    private func refusedPages(_ count: Int) throws -> [UInt64] {
        let environment = try store.open { $0.access = .readOnly }
        defer { try? environment.close() }
        let map = try #require(environment.sums.map)
        let mark = PageGuard.mark(of: environment.sums.newestCommit ?? 0)
        return (2..<UInt64(count)).filter { number in
            environment.sums.entry(number).isInUse
                && !environment.pageGuard.admits(
                    number, UnsafeRawBufferPointer(start: map + Int(number) * 4096, count: 4096), mark)
        }
    }

    // MARK: Heads

    /// A flipped bit in what the newest head says is an error, and never an older state.
    @Test func everyBitOfTheNewestHeadMatters() throws {
        let sound = try twoCommits()
        let newest = (0..<2).max { commit(sound, $0) < commit(sound, $1) }!
        for offset in 8..<152 {
            for bit in 0..<8 {
                var bytes = sound
                bytes[newest * 4096 + offset] ^= 1 << bit
                try store.overwrite(bytes)
                let found = code { try store.open { $0.access = .readOnly } }
                #expect(
                    found == .corrupted || found == .invalid || found == .truncated,
                    "byte \(offset) bit \(bit): \(found as Any)")
            }
        }
        try store.overwrite(sound)
        #expect(try check().isSound)
    }

    /// The older head is not read; a damaged number in it must not make it the newest.
    @Test func anOlderHeadNeverBecomesTheNewest() throws {
        let sound = try twoCommits()
        let older = (0..<2).min { commit(sound, $0) < commit(sound, $1) }!
        for bit in 0..<64 {
            var bytes = sound
            bytes[older * 4096 + 144 + bit / 8] ^= 1 << (bit % 8)
            try store.overwrite(bytes)
            do {
                let environment = try store.open { $0.access = .readOnly }
                let table = try environment.openTables(["t"])[0]
                #expect(try environment.read { try $0.bytes(table, 1) } == [3])
                try environment.close()
            } catch let error as LMDBError {
                #expect(error.code == .corrupted || error.code == .invalid, "bit \(bit): \(error)")
            }
        }
    }

    @Test func anOlderHeadInThePlaceOfTheNewestIsAnError() throws {
        let older = try store.fillAndRead()
        let newer = try twoCommits()
        var bytes = newer
        bytes.replaceSubrange(0..<8192, with: older[0..<8192])
        try store.overwrite(bytes)
        #expect(code { try store.open() } == .corrupted)
    }

    /// The bytes after two commits that change record 1.
    private func twoCommits() throws -> Data {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for value in 1...3 as ClosedRange<UInt8> { try environment.write { try $0.put(table, 1, [value]) } }
        try environment.close()
        return try store.dataBytes()
    }

    private func commit(_ bytes: Data, _ page: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page * 4096 + 144, as: UInt64.self) }
    }

    private func check() throws -> Environment.PageReport {
        let environment = try store.open { $0.access = .readOnly }
        defer { try? environment.close() }
        return try environment.checkPages()
    }
}

extension Environment {
    /// Puts and removes records of all sizes in several tables.
    func change(_ tables: [Table], _ count: Int, _ random: inout SplitMix) throws {
        try write { transaction in
            for _ in 0..<count {
                let table = tables.randomElement(using: &random)!
                let key = UInt64.random(in: 1...2000, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<6:
                    let size = [8, 100, 300, 1500, 5000, 60_000].randomElement(using: &random)!
                    try transaction.put(table, key, [UInt8](repeating: UInt8(key % 251), count: size))
                case 6..<9: _ = try transaction.delete(table, key)
                default: if count < 10 { try transaction.clear(table) }
                }
            }
        }
    }
}

extension TemporaryStore {
    /// Fills the store and returns its bytes.
    func fillAndRead() throws -> Data {
        try fill()
        return try dataBytes()
    }

    /// Changes the bytes of the data file in place, as a disk does.
    func overwrite(_ bytes: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: dataPath))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }
}
