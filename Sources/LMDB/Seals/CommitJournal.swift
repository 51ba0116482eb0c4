// `journal`, beside `data.mdb`: what has been committed since the last checkpoint of a store whose durability is
// `journaled`. Numbers are in the byte order of the host:
//
//   offset  width  field
//   0       8      "STRJRNL1"
//   4096           entries, one behind the other, each at a multiple of 8:
//     0     8      mark of the round to which the entry belongs
//     8     8      LMDB's number of the commit
//     16    8      length of the content
//     24    8      check of the above and the content
//     32           content
//
// A round ends where an entry has another mark or is half written. When a checkpoint has all changes of a round, the
// next round begins at offset 4096, with a mark that no round has had. The file is as long as the longest round, and
// filled with zeros ahead, so that an entry is on the disk after one sync that writes nothing but the entry. A commit may
// have several entries, one after the other, which that one sync covers.
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CChecksum
import CLMDB
import Locking

/// The open file `journal`. All but reading is done under the writer's lock.
final class CommitJournal: Sendable {
    static let name = "journal"
    private static let magic = UInt64(littleEndian: 0x314C_4E52_4A52_5453)
    private static let firstOffset = 4096
    private static let headerSize = 32
    /// The number of bytes by which the file is filled with zeros at a time.
    private static let step = 1 << 20
    /// From here on a round ends at the next checkpoint.
    private static let roundSize = 256 << 10
    /// Larger entries cost more than a checkpoint.
    static let largestEntry = 1 << 20
    /// A round does not become larger; a checkpoint is made instead.
    private static let largestRound = 64 << 20

    private struct Round {
        var mark: UInt64
        var end = firstOffset
        /// The number of the last entry's commit.
        var commit: UInt64 = 0
    }

    private struct State {
        /// The round that is written, as far as it is known.
        var round: Round?
        /// The size of the file.
        var size = 0
    }

    private let descriptor: Int32
    private let state = Locked(State())

    /// Takes over an open file.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    // MARK: The file

    /// Whether `make` has finished.
    var isMade: Bool { words(at: 0, count: 1) == [Self.magic] }

    /// Makes the file an empty journal. It is on the disk when this returns.
    ///
    /// - Returns: the operating system's error number, or 0.
    func make() -> Int32 {
        state.withLock { state in
            state = State()
            guard ftruncate(descriptor, 0) == 0 else { return errno }
            let result = fill(upTo: Self.step, &state)
            guard result == 0 else { return result }
            let written = write(withUnsafeBytes(of: Self.magic) { [UInt8]($0) }, at: 0)
            return written == 0 ? sync() : written
        }
    }

    /// Overwrites all entries. Their changes must be on the disk by a checkpoint or a sync.
    ///
    /// - Returns: the operating system's error number, or 0.
    func wipe() -> Int32 {
        state.withLock { state in
            let size = Int(lseek(descriptor, 0, SEEK_END))
            state = State(size: Self.firstOffset)
            return fill(upTo: max(size, Self.step), &state)
        }
    }

    private func fill(upTo size: Int, _ state: inout State) -> Int32 {
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        while state.size < size {
            let count = min(zeros.count, size - state.size)
            guard pwrite(descriptor, zeros, count, off_t(state.size)) == count else { return Self.failure }
            state.size += count
        }
        return CheckpointFile.sync(descriptor) == 0 ? 0 : errno
    }

    private func write(_ bytes: [UInt8], at offset: Int) -> Int32 {
        let count = pwrite(descriptor, bytes, bytes.count, off_t(offset))
        return count == bytes.count ? 0 : Self.failure
    }

    /// Syncs the appended entries to the disk.
    ///
    /// - Returns: the operating system's error number, or 0.
    func sync() -> Int32 {
        CheckpointFile.sync(descriptor) == 0 ? 0 : Self.failure
    }

    /// The reason of a call that has failed. A write that was cut short gives none.
    private static var failure: Int32 { errno == 0 ? EIO : errno }

    private func words(at offset: Int, count: Int) -> [UInt64]? {
        [UInt8](descriptor, at: offset, count: 8 * count).map { bytes in
            bytes.withUnsafeBytes { bytes in
                (0..<count).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
            }
        }
    }

    // MARK: Writing

    /// The result of writing an entry.
    enum Answer {
        /// It is in the file, at these offsets, and on the disk after the next `sync`.
        case written(Range<Int>)
        /// There is no room; a checkpoint after the commit takes its place.
        case tooLarge
        case failed(Int32)
        /// It may be in the file or not, and cannot be taken back.
        case unknown(Int32)
    }

    /// Writes the changes of a commit.
    ///
    /// - Parameters:
    ///   - isEarly: whether the disk begins to write it now (`sync_file_range`), so that a sync after some work takes
    ///     less. Measured by `strata-bench run --journaled --filter durable`.
    ///   - checkpoint: the commit of the last checkpoint.
    func append(_ content: [UInt8], commit: UInt64, isEarly: Bool = false, checkpoint: () -> UInt64) -> Answer {
        guard content.count <= Self.largestEntry else { return .tooLarge }
        return state.withLock { state in
            var round = follow(state.round)
            if round.end > Self.roundSize, checkpoint() >= round.commit { round = Round(mark: Self.newMark()) }
            let entry = Self.entry(content, round.mark, commit)
            guard round.end + entry.count <= Self.largestRound else {
                state.round = round
                return .tooLarge
            }
            if state.size == 0 { state.size = max(0, Int(lseek(descriptor, 0, SEEK_END))) }
            while round.end + entry.count > state.size {
                let result = fill(upTo: state.size + Self.step, &state)
                guard result == 0 else { return .failed(result) }
            }
            let place = round.end..<round.end + entry.count
            let result = write(entry, at: place.lowerBound)
            guard result == 0 else {
                // A part of it may be there.
                state.round = nil
                return clear(place) == 0 ? .failed(result) : .unknown(result)
            }
            if isEarly { _ = clmdb_begin_writing(descriptor) }
            round.end = place.upperBound
            round.commit = commit
            state.round = round
            return .written(place)
        }
    }

    /// Takes back the entries of a commit that has failed. This is on the disk when it returns.
    ///
    /// - Parameter place: from the first of them to the end of the last.
    /// - Returns: the operating system's error number, or 0.
    func retract(_ place: Range<Int>) -> Int32 {
        state.withLock { state in
            state.round = nil
            return clear(place)
        }
    }

    /// Overwrites all of it: an entry that is left would be read as part of the round if the next one ends before it.
    private func clear(_ place: Range<Int>) -> Int32 {
        let result = write([UInt8](repeating: 0, count: place.count), at: place.lowerBound)
        return result == 0 ? sync() : result
    }

    private static func newMark() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    private static func entry(_ content: [UInt8], _ mark: UInt64, _ commit: UInt64) -> [UInt8] {
        let fields = [mark, commit, UInt64(content.count), check(content, mark, commit)]
        var bytes = fields.withUnsafeBytes { [UInt8]($0) }
        bytes.reserveCapacity(bytes.count + content.count + 8)
        bytes += content
        bytes += [UInt8](repeating: 0, count: (8 - content.count % 8) % 8)
        return bytes
    }

    private static func check(_ content: [UInt8], _ mark: UInt64, _ commit: UInt64) -> UInt64 {
        let sum = content.withUnsafeBytes { checksum_crc32c(0, $0.baseAddress, $0.count) }
        return UInt64(sum).mixed(with: mark).mixed(with: commit).mixed(with: UInt64(content.count))
    }

    // MARK: Reading

    /// All bytes of the file; nil if they cannot be read.
    var bytes: [UInt8]? {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        return size < 0 ? nil : [UInt8](descriptor, at: 0, count: size)
    }

    /// The contents of the newest round, in the order in which they were written.
    var contents: [[UInt8]] {
        state.withLock { _ in
            var contents: [[UInt8]] = []
            _ = walk(from: nil) { contents.append($0) }
            return contents
        }
    }

    /// Whether the newest round has entries of commits after this one.
    func hasEntries(after commit: UInt64) -> Bool { state.withLock { _ in walk(from: nil)?.commit ?? 0 > commit } }

    /// The round that is on the disk. Other processes may have gone on with the one that is known, or begun another.
    private func follow(_ known: Round?) -> Round {
        walk(from: known.flatMap { round in words(at: Self.firstOffset, count: 1) == [round.mark] ? round : nil })
            ?? Round(mark: Self.newMark())
    }

    /// - Returns: nil if no entry is whole.
    private func walk(from known: Round?, _ body: ([UInt8]) -> Void = { _ in }) -> Round? {
        var round = known
        while true {
            let offset = round?.end ?? Self.firstOffset
            guard let fields = words(at: offset, count: 4), fields[0] != 0, round?.mark ?? fields[0] == fields[0],
                fields[2] <= UInt64(Self.largestEntry),
                let content = [UInt8](descriptor, at: offset + Self.headerSize, count: Int(fields[2])),
                Self.check(content, fields[0], fields[1]) == fields[3]
            else { return round }
            body(content)
            let size = Self.headerSize + (content.count + 7) & ~7
            round = Round(mark: fields[0], end: offset + size, commit: fields[1])
        }
    }
}
