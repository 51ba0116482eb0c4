import Foundation
@testable import LMDB
import StrataTestSupport
import Testing

/// A look at every page finds whatever could make LMDB write on a page that is in use.
@Suite struct PageSurveyTests {
    private let store = TemporaryStore()
    private let pageSize = 4096

    /// Two tables with values of all sizes, some of them gone again.
    private func fill(steps: Int, keys: UInt64 = 40) throws {
        let environment = try store.open()
        let tables = try environment.openTables(["a", "b"])
        for step in 0..<UInt64(steps) {
            try environment.write { transaction in
                for number in 0..<keys {
                    let key = (step * 977 + number * 131) % 600
                    let size = key % 17 == 0 ? 9000 : Int(key % 300)
                    try transaction.put(
                        tables[Int(number % 2)], key, [UInt8](repeating: UInt8(step % 250), count: size))
                    _ = try transaction.delete(tables[Int(number % 2)], (key + 300) % 600)
                }
            }
            #expect(try environment.surveyPages().problems == [], "after step \(step)")
        }
        try environment.close()
    }

    /// The store's file, with ways to change single bits of it and look again.
    private final class Patient {
        let descriptor: Int32
        let bytes: [UInt8]
        private let pageSize = 4096

        init(_ path: String) throws {
            bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
            descriptor = open(path, O_RDWR | O_CLOEXEC)
        }

        deinit { close(descriptor) }

        /// What is wrong with the file, read as LMDB would open it.
        func problems() throws -> [PageSurvey.Problem] {
            let metas = try #require(MetaPageCheck(descriptor: descriptor, pageSize: pageSize))
            let newest = max(metas.meta(0).transaction, metas.meta(1).transaction)
            return PageSurvey(
                of: newest, metas, PageCopies(descriptor: descriptor, pageSize: pageSize)
            ).problems
        }

        /// The places in a range of bytes where a flipped bit is not found.
        func misses(_ range: some Sequence<Int>, bits: Range<Int> = 0..<8) throws -> [String] {
            var missed: [String] = []
            for offset in range {
                for bit in bits {
                    var changed = bytes[offset] ^ 1 << UInt8(bit)
                    pwrite(descriptor, &changed, 1, off_t(offset))
                    if try problems().isEmpty {
                        missed.append("page \(offset / pageSize), byte \(offset % pageSize), bit \(bit)")
                    }
                }
                var sound = bytes[offset]
                pwrite(descriptor, &sound, 1, off_t(offset))
            }
            return missed
        }

        var newest: UInt64 {
            bytes.withUnsafeBytes { bytes in
                max(
                    bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: pageSize + 144, as: UInt64.self))
            }
        }

        /// Pages in use by the newest commit, by kind; for long values, the first.
        func pages() throws -> (free: Set<UInt64>, others: Set<UInt64>) {
            let file = PageCopies(descriptor: descriptor, pageSize: pageSize)
            var (free, others) = (Set<UInt64>(), Set<UInt64>())
            for number in [newest & 1] {
                let page = Array(bytes[Int(number) * pageSize..<Int(number + 1) * pageSize])
                try page.withUnsafeBytes { meta in
                    var lists = TreeCheck(file, lastPage: MetaPage(meta).lastPage) { _, page in free.insert(page) }
                    try lists.check(meta, number)
                    for page in 2...MetaPage(meta).lastPage where lists.reached.contains(page) { others.insert(page) }
                }
            }
            return (free, others.subtracting(free))
        }
    }

    @Test func soundFilesHaveNoProblems() throws {
        try fill(steps: 120)
        #expect(try Patient(store.dataPath).problems() == [])
    }

    @Test func aFlippedBitInAHeaderIsFound() throws {
        try fill(steps: 9, keys: 18)
        let patient = try Patient(store.dataPath)
        let (free, others) = try patient.pages()
        #expect(others.count > 10)
        for page in free.union(others) {
            let start = Int(page) * pageSize
            // The pages of a long value behind the first have no header.
            guard
                patient.bytes[start..<start + 8].enumerated().allSatisfy({ $1 == UInt8(page >> (8 * UInt64($0)) & 255) }
                )
            else { continue }
            #expect(try patient.misses(start..<start + 16) == [])
        }
        #expect(try patient.problems() == [])
    }

    @Test func aFlippedBitInAFreeListIsFound() throws {
        try fill(steps: 9, keys: 12)
        let patient = try Patient(store.dataPath)
        let free = try patient.pages().free
        #expect(!free.isEmpty)
        for page in free {
            let start = Int(page) * pageSize
            func word(_ offset: Int) -> Int {
                Int(patient.bytes[start + offset]) | Int(patient.bytes[start + offset + 1]) << 8
            }
            // All but the unused middle of the page, and what is left over behind a list.
            var used = Set(0..<word(12))
            for index in 0..<(word(12) - 16) / 2 {
                let entry = word(16 + 2 * index)
                used.formUnion(entry..<entry + 24 + 8 * word(entry + 16))
            }
            #expect(try patient.misses(used.map { start + $0 }) == [])
        }
        #expect(try patient.problems() == [])
    }

    @Test func aFlippedBitInAMetaPageIsFound() throws {
        try fill(steps: 9, keys: 12)
        let patient = try Patient(store.dataPath)
        for start in [0, pageSize] {
            // The size of the map is the opening program's to choose. The next commit writes anew what the older page
            // says of its trees.
            let isNewest = UInt64(start / pageSize) == patient.newest & 1
            #expect(try patient.misses(start..<start + 32) == [])
            if isNewest { #expect(try patient.misses(start + 40..<start + 144) == []) }
            // With its second bit less the newest commit looks like one that the disk did not finish, which LMDB leaves.
            #expect(try patient.misses(start + 144..<start + 145, bits: 2..<8) == [])
            #expect(try patient.misses(start + 145..<start + 152) == [])
            #expect(try patient.misses(stride(from: start + 152, to: start + pageSize, by: 41), bits: 3..<4) == [])
        }
        #expect(try patient.problems() == [])
    }

    /// Each way in which free lists and trees may disagree, named.
    @Test func pagesThatAreFreeAndInUseAreNamed() throws {
        try fill(steps: 9, keys: 12)
        let patient = try Patient(store.dataPath)
        let (free, others) = try patient.pages()
        let page = try #require(free.max())
        let start = Int(page) * pageSize
        let entry = start + Int(patient.bytes[start + 16]) + Int(patient.bytes[start + 17]) << 8
        func number(_ offset: Int) -> UInt64 {
            patient.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        }
        let (count, first) = (number(entry + 16), number(entry + 24))
        try #require(count > 0)
        var used = try #require(others.filter { $0 > first }.min() ?? others.max())
        pwrite(patient.descriptor, &used, 8, off_t(entry + 24))
        let problems = try patient.problems().map(\.sentence)
        #expect(!problems.isEmpty)
        #expect(problems.contains { $0.contains("in use and in a free list") || $0.contains("in a wrong place") })
    }
}
