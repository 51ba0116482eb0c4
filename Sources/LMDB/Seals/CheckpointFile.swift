// `checkpoint`, beside `data.mdb`: the newest state that a power cut leaves of a store whose commits are not synced
// (durability `checkpointed`). It has two slots, at the offsets 0 and 4096, which are written in turns; the one with the
// higher number counts. Numbers are in the byte order of the host:
//
//   offset  width  field
//   0       8      number of the slot's writing, from 1
//   8       8      start of the system in which it was written
//   16      8      mount in which it was written
//   24      8      number of the data file in its file system
//   32      152    meta page of the commit
//   184     8      check of the above
//
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Locking

/// A commit that is on the disk with all its pages, which no later commit has written on.
struct Checkpoint: Equatable {
    var number: UInt64
    var session: FileSession
    /// The number of the data file.
    var file: UInt64
    /// The meta page of the commit, as far as it has content.
    var head: [UInt64]

    static let headWordCount = MetaPage.size / 8
    static let wordCount = 5 + headWordCount

    var commit: UInt64 { head[headWord(at: MetaPage.size - 8)] }

    private func headWord(at offset: Int) -> Int { offset / 8 }

    var words: [UInt64] {
        let content = [number, session.start, session.mount, file] + head
        return content + [Self.check(content)]
    }

    init(number: UInt64, session: FileSession, file: UInt64, head: [UInt64]) {
        self.number = number
        self.session = session
        self.file = file
        self.head = head
    }

    /// - Returns: nil for none, or for one that is half written.
    init?(words: [UInt64]) {
        guard words.count == Self.wordCount, words[0] != 0, words.last == Self.check(words.dropLast()) else {
            return nil
        }
        self.init(
            number: words[0], session: FileSession(start: words[1], mount: words[2]), file: words[3],
            head: Array(words[4..<words.count - 1]))
    }

    private static func check(_ words: some Sequence<UInt64>) -> UInt64 {
        words.reduce(0x6368_6563_6B70) { $0.mixed(with: $1) }
    }

    /// The meta page for a slot of the data file: of this commit, or of the same state under the number before.
    func metaPage(slot: UInt64) -> [UInt64] {
        var words = head
        // The number of the page comes first.
        words[0] = slot
        if slot != commit & 1, commit > 0 { words[headWord(at: MetaPage.size - 8)] = commit - 1 }
        return words
    }

    var pageSize: Int { head.withUnsafeBytes { Int(MetaPage($0).pageSize) } }

    /// Whether a file has all the pages of the commit.
    ///
    /// - Complexity: a read of every page in use.
    func isWhole(in descriptor: Int32) -> Bool {
        let size = pageSize
        guard size >= 512, size <= 64 << 10, size & (size - 1) == 0 else { return false }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { page.deallocate() }
        page.initializeMemory(as: UInt8.self, repeating: 0)
        metaPage(slot: commit & 1).withUnsafeBytes { page.copyMemory(from: $0) }
        let copies = PageCopies(descriptor: descriptor, pageSize: size)
        return FilePartition(UnsafeRawBufferPointer(page), commit & 1, in: copies, frees: false).problems.isEmpty
    }
}

/// When and where a file was written, as far as a power cut can come in between.
struct FileSession: Equatable {
    /// The start of the system.
    let start: UInt64
    /// The mount on which the file lies.
    let mount: UInt64
}

/// The open file `checkpoint`.
///
/// While it is open it holds a shared `flock`: without others that have it, a session that has ended is over for the
/// store. Between processes, a record lock lets one at a time make a checkpoint. The descriptor never changes.
final class CheckpointFile: Sendable {
    static let name = "checkpoint"
    private static let slotSize = 4096

    private let descriptor: Int32

    /// Takes over an open file.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Says that the store is in use.
    ///
    /// - Returns: 0; `EWOULDBLOCK` if another process takes the store back to its checkpoint until the deadline; otherwise
    ///   the system's error number.
    func share(until deadline: ContinuousClock.Instant) -> Int32 {
        FileLock.take(.shared, of: descriptor, until: deadline)
    }

    /// Whether no process uses the store, nor begins to before this file is closed.
    func exclude() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// The newest checkpoint; nil if there is none.
    var newest: Checkpoint? {
        (0..<2).compactMap { slot in
            [UInt8](descriptor, at: slot * Self.slotSize, count: 8 * Checkpoint.wordCount).flatMap { bytes in
                Checkpoint(
                    words: bytes.withUnsafeBytes { bytes in
                        (0..<Checkpoint.wordCount).map {
                            bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)
                        }
                    })
            }
        }.max { $0.number < $1.number }
    }

    /// Whether there were checkpoints and there are none. The first one ever is in the second slot; a power cut while it
    /// was written leaves the first slot empty, and takes no commit.
    var isDamaged: Bool {
        newest == nil && [UInt8](descriptor, at: 0, count: 8).map { $0.contains { $0 != 0 } } ?? false
    }

    /// Writes a checkpoint; it is on the disk when this returns.
    ///
    /// - Returns: the operating system's error number, or 0.
    func write(_ checkpoint: Checkpoint) -> Int32 {
        let words = checkpoint.words
        let offset = off_t(checkpoint.number & 1) * off_t(Self.slotSize)
        guard pwrite(descriptor, words, 8 * words.count, offset) == 8 * words.count, Self.sync(descriptor) == 0 else {
            return errno == 0 ? EIO : errno
        }
        return 0
    }

    /// Has a file's content on the disk.
    static func sync(_ descriptor: Int32) -> Int32 {
        #if os(Linux)
            fdatasync(descriptor)
        #else
            fcntl(descriptor, F_FULLFSYNC)
        #endif
    }

    /// Runs the body while no other process does so.
    ///
    /// - Parameter path: the store's directory, for messages.
    /// - Throws: `busy` if another process does so until the timeout.
    func alone<Success>(
        timeout: Duration, path: String, _ body: () throws(LMDBError) -> Success
    ) throws(LMDBError) -> Success {
        let deadline = ContinuousClock.now + timeout
        var pause: UInt32 = 50
        var lock = RecordLock(Int16(F_WRLCK))
        while !lock.set(on: descriptor) {
            let number = errno
            switch number {
            case EINTR: continue
            case EAGAIN, EACCES: break
            default: throw SystemError.lmdb(number, "lock the file of checkpoints", path)
            }
            guard ContinuousClock.now < deadline else { throw busy(path) }
            usleep(pause)
            pause = min(pause * 2, 2_000)
        }
        defer {
            lock = RecordLock(Int16(F_UNLCK))
            _ = lock.set(on: descriptor)
        }
        return try body()
    }

    private func busy(_ path: String) -> LMDBError {
        let holder = RecordLock.holder(of: descriptor) ?? 0
        let name = holder > 0 ? "process \(holder)" : "another process"
        return LMDBError(
            .busy, operation: "make a checkpoint", path: path,
            detail: "\(name) has the lock of the file of checkpoints, as one that makes a checkpoint")
    }
}
