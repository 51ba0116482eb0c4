// `pages.sums`, a sum of each page of `data.mdb`. It may be missing, and may be removed while no process has the store
// open: the next change makes it from the pages. Numbers are in the byte order of the host, offsets in bytes:
//
//   offset  width  field
//   0       8      the letters "pagesums"
//   8       4      version, 1
//   12      4      size of a page
//   16      8      salt, random
//   24      8      check of the above
//   32      8      how often unused bytes of the data file were overwritten (`Environment.wipe`)
//   128     80     seal of a commit with an even number
//   256     80     seal of a commit with an odd number
//   4096    8      an entry for each page by its number; zeros for the meta pages, which the seals know
//
// A seal: the commit for which all entries are true. The newer of the two counts.
//
//   0       8      number of the commit, plus one; 0 for no seal
//   8       8      digest of the commit's meta page
//   16      8      digest of the same but for the numbers of page and commit
//   24      8      total: the sum of all entries, each mixed with its page's number
//   32      8      last page
//   40      8      pages in use, without the meta pages
//   48      8      session: the start of the system and the mount in which it was made
//   56      8      number of the data file in its file system
//   64      8      1 if a power cut may take the commit (relaxed durability), else 0
//   72      8      check of the above
//
// An entry:
//
//   0       4      sum: the CRC-32C of each quarter of the page, mixed with its number; 0 if not known
//   4       4      bit 31: the page is free; below, a check of sum, number and that bit with the salt
//
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

/// `pages.sums`, the file beside `data.mdb` that tells a damaged page, an older one in its place, or another one, from the
/// one that was written.
///
/// **Writing.** When a commit has been made, and before the next one may begin, `CommitSeal` finds the pages that it
/// wrote, enters their sums, and writes a seal. It costs no sync and no system call. A process that ends in between
/// leaves an older seal, and the next writer does the rest.
///
/// **After a power cut** the system may have kept any part of the file. Each seal has the total of all entries, which
/// is computed again where the system or the mount is another than that of the seal. If it is the same, the entries
/// are those of the seal. If it is not, they are not used, and the next writer makes new ones from the whole file.
///
/// **Trust.** Entries count while the newest seal is trusted. A page that has no sum, because its commit is
/// not sealed yet or was made by a program that does not know this file, is checked by its structure alone.
///
/// `region` and `map` change only while no transaction is open. Entries and seals are atomic words, which one writer
/// changes at a time. All else guards itself. That is why the class is `Sendable`.
final class PageSums: @unchecked Sendable {
    static let name = EnvironmentDirectory.sumsName
    static let entriesOffset = 4096
    private static let magic: UInt64 = 0x736D_7573_6567_6170
    private static let version: UInt64 = 1

    /// Whether this environment has sums at all.
    let isUsed: Bool
    let isWritable: Bool
    /// Addresses for the whole file, however long it becomes: zeros behind its end.
    @exclusivity(unchecked) private var region: UnsafeMutableRawPointer?
    private var regionSize = 0
    /// The data file in memory; nil where its address is not known.
    @exclusivity(unchecked) private(set) var map: UnsafeRawPointer?
    @exclusivity(unchecked) private(set) var pageSize = Page.usualSize
    /// The number of pages that the entries in the file have room for.
    private let capacity = Atomic<UInt64>(0)
    private let session = Atomic<UInt64>(0)
    /// The number of the data file.
    private let file: UInt64
    private let descriptor = Locked<Int32>(-1)
    /// The seal of another session whose total has been found right.
    private let verified = Locked<Seal?>(nil)
    /// The first word of the seal that was found to be trusted last.
    private let trustedMark = Atomic<UInt64>(0)
    /// The number of times that all sums were computed again.
    let wholeSealCount = Atomic<Int>(0)
    /// The number of entries met that contradict themselves.
    let damagedEntryCount = Atomic<Int>(0)

    /// - Parameter file: the number of the data file.
    init(isUsed: Bool, isWritable: Bool, file: UInt64) {
        self.isUsed = isUsed
        self.isWritable = isWritable
        self.file = file
    }

    deinit {
        if let region { munmap(region, regionSize) }
        descriptor.withLock { if $0 >= 0 { close($0) } }
    }

    /// Whether the file is there and open.
    var isAttached: Bool { capacity.load(ordering: .acquiring) > 0 }

    /// The number of times that unused bytes of the data file were overwritten, by any process.
    var wipeCount: UInt64 { isAttached ? word(at: 32)?.pointee.load(ordering: .acquiring) ?? 0 : 0 }

    /// Counts a wipe; under the writer's lock.
    func noteWipe() {
        guard isAttached else { return }
        word(at: 32)?.pointee.add(1, ordering: .acquiringAndReleasing)
    }

    var salt: UInt64 { word(at: 16)?.pointee.load(ordering: .relaxed) ?? 0 }

    // MARK: Memory

    /// Takes addresses for the sums of a data file that was opened, or whose map was replaced. No transaction may be
    /// open.
    func reserve(map: UnsafeRawPointer?, mapSize: Int, pageSize: Int) {
        guard isUsed else { return }
        self.map = map
        self.pageSize = pageSize
        let size = Self.rounded(Self.entriesOffset + mapSize / pageSize * PageEntry.size)
        let present = descriptor.withLock { $0 }
        if size > regionSize || region == nil {
            if let region { munmap(region, regionSize) }
            region = nil
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | Self.withoutReserve
            let made = mmap(nil, size, PROT_READ, flags, -1, 0)
            guard let made, made != MAP_FAILED else { return capacity.store(0, ordering: .releasing) }
            region = made
            regionSize = size
            if present >= 0 { try? mapFile(present) }
        }
    }

    /// Maps the part of the file that is not mapped yet.
    private func mapFile(_ descriptor: Int32) throws(SystemFailure) {
        var status = stat()
        guard let region, fstat(descriptor, &status) == 0 else { throw SystemFailure() }
        let size = min(Int(status.st_size), regionSize) / Self.unit * Self.unit
        guard size > 0 else { throw SystemFailure(number: 0) }
        let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        guard mmap(region, size, protection, MAP_SHARED | MAP_FIXED, descriptor, 0) != MAP_FAILED else {
            throw SystemFailure()
        }
        capacity.store(UInt64((size - Self.entriesOffset) / PageEntry.size), ordering: .releasing)
    }

    struct SystemFailure: Error {
        var number = errno
    }

    /// The file grows by this, in bytes: a multiple of any system's page.
    private static let unit = max(16 << 10, Int(getpagesize()))

    private static func rounded(_ size: Int) -> Int { (size + unit - 1) / unit * unit }

    private static var withoutReserve: Int32 {
        #if os(Linux)
            0x4000  // MAP_NORESERVE
        #else
            MAP_NORESERVE
        #endif
    }

    @inline(__always)
    private func word(at offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>>? {
        region.map { ($0 + offset).assumingMemoryBound(to: Atomic<UInt64>.self) }
    }

    // MARK: The file

    /// Makes an open file one of sums that has none yet.
    static func initialize(_ opened: Int32, pageSize: Int) throws(SystemFailure) {
        // Without the first words the file is none, and without seals no entry counts.
        let empty = [UInt8](repeating: 0, count: entriesOffset)
        guard pwrite(opened, empty, empty.count, 0) == empty.count else { throw SystemFailure() }
        try extend(opened, to: unit)
        let header = header(pageSize: pageSize, salt: .random(in: 1 ... .max))
        guard pwrite(opened, header, 8 * header.count, 0) == 8 * header.count else { throw SystemFailure() }
    }

    /// Uses an open file; takes the descriptor in every case.
    ///
    /// - Returns: whether it is a file of sums for this data file. Otherwise the next writer makes the file again.
    func attach(_ opened: Int32) throws(SystemFailure) -> Bool {
        let header = [UInt8](opened, at: 0, count: 32)?.withUnsafeBytes { bytes in
            (0..<4).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
        }
        var status = stat()
        // A power cut may have taken the length and left the head.
        guard let header, header == Self.header(pageSize: pageSize, salt: header[2]), fstat(opened, &status) == 0,
            status.st_size >= Self.unit
        else {
            close(opened)
            return false
        }
        descriptor.withLock {
            if $0 >= 0 { close($0) }
            $0 = opened
        }
        session.store(Self.session(of: opened), ordering: .relaxed)
        try mapFile(opened)
        return true
    }

    private static func header(pageSize: Int, salt: UInt64) -> [UInt64] {
        let content = [magic, version | UInt64(pageSize) << 32, salt]
        return content + [content.reduce(0) { $0.mixed(with: $1) }]
    }

    /// Makes the file long enough for so many pages. Its new part holds zeros, for which the disk has room.
    func grow(toPages count: UInt64) throws(SystemFailure) {
        let present = capacity.load(ordering: .relaxed)
        guard count > present else { return }
        let opened = descriptor.withLock { $0 }
        // A part more than is needed, so that a growing store seldom comes here.
        let size = Self.rounded(Self.entriesOffset + Int(max(count, present + present / 8)) * PageEntry.size)
        try Self.extend(opened, to: min(size, max(regionSize, Self.rounded(Self.entriesOffset))))
        try mapFile(opened)
        guard capacity.load(ordering: .relaxed) >= count else { throw SystemFailure(number: ENOMEM) }
    }

    static func extend(_ descriptor: Int32, to size: Int) throws(SystemFailure) {
        #if os(Linux)
            // Without room on the disk, writing to the map would end the process.
            let result = posix_fallocate(descriptor, 0, off_t(size))
            guard result == 0 else { throw SystemFailure(number: result) }
        #else
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw SystemFailure() }
            var end = Int(status.st_size)
            let zeros = [UInt8](repeating: 0, count: 64 << 10)
            while end < size {
                let count = pwrite(descriptor, zeros, min(zeros.count, size - end), off_t(end))
                guard count > 0 else { throw SystemFailure() }
                end += count
            }
        #endif
    }

    /// Follows another process that has made the file longer.
    func followGrowth() {
        let opened = descriptor.withLock { $0 }
        if opened >= 0 { try? mapFile(opened) }
    }

    // MARK: Entries

    /// The entry of a page; `none` where there is none.
    @inline(__always)
    func entry(_ number: UInt64) -> PageEntry {
        guard number < capacity.load(ordering: .relaxed),
            let word = word(at: Self.entriesOffset + Int(number) * PageEntry.size)
        else { return .none }
        return PageEntry(bits: word.pointee.load(ordering: .relaxed))
    }

    /// Changes the entry of a page below the capacity, and the sum of all with it.
    @inline(__always)
    func set(_ number: UInt64, _ entry: PageEntry, _ content: inout EntrySum) {
        guard number < capacity.load(ordering: .relaxed),
            let word = word(at: Self.entriesOffset + Int(number) * PageEntry.size)
        else { return }
        let old = PageEntry(bits: word.pointee.load(ordering: .relaxed))
        word.pointee.store(entry.bits, ordering: .relaxed)
        content.replace(old, with: entry, number: number)
    }

    /// Removes the entries from a page on.
    func clear(from number: UInt64) {
        var content = EntrySum(lastPage: 0)
        for number in number..<max(number, capacity.load(ordering: .relaxed)) { set(number, .none, &content) }
    }

    /// The sum of all entries as they are.
    /// - Complexity: O(n) in the pages, two nanoseconds for each.
    func computedContent(lastPage: UInt64) -> EntrySum {
        followGrowth()
        var content = EntrySum(lastPage: lastPage)
        for number in 0..<capacity.load(ordering: .relaxed) {
            content.replace(.none, with: entry(number), number: number)
        }
        return content
    }

    // MARK: Seals

    /// The seal for the commits with this number's last bit; nil where there is none, or one that is half written.
    private func seal(at commit: UInt64) -> Seal? {
        guard isAttached, let first = word(at: Seal.offset(of: commit)) else { return nil }
        return Seal(words: (0..<Seal.wordCount).map { first[$0].load(ordering: .acquiring) })
    }

    /// The newest seal and the one before it.
    var seals: (newest: Seal?, before: Seal?) {
        let (even, odd) = (seal(at: 0), seal(at: 1))
        guard let even else { return (odd, nil) }
        guard let odd else { return (even, nil) }
        return even.commit > odd.commit ? (even, odd) : (odd, even)
    }

    /// The newest seal, if the entries are those of it.
    var trusted: Seal? {
        guard let newest = seals.newest else { return nil }
        return isTrusted(newest) ? newest : nil
    }

    /// Whether the entries are those of one of the two seals.
    @inline(__always)
    var areTrusted: Bool {
        let mark = trustedMark.load(ordering: .relaxed)
        guard mark != 0, let even = word(at: Seal.offset(of: 0)), let odd = word(at: Seal.offset(of: 1)) else {
            return findWhetherTrusted()
        }
        return even.pointee.load(ordering: .relaxed) == mark || odd.pointee.load(ordering: .relaxed) == mark
            || findWhetherTrusted()
    }

    @inline(never)
    private func findWhetherTrusted() -> Bool {
        guard let trusted else { return false }
        trustedMark.store(trusted.commit + 1, ordering: .relaxed)
        return true
    }

    func isTrusted(_ seal: Seal) -> Bool {
        if isOfThisSession(seal) && seal.file == file { return true }
        return verified.withLock { $0 == seal }
    }

    func isOfThisSession(_ seal: Seal) -> Bool { seal.session == session.load(ordering: .relaxed) }

    /// Computes the total of a seal that was made before the system started, or for a copy of this file.
    func verify() {
        for _ in 0..<3 {
            guard let newest = seals.newest, !isTrusted(newest) else { return }
            let content = computedContent(lastPage: newest.lastPage)
            // A writer may have sealed meanwhile.
            guard seals.newest == newest else { continue }
            if content == newest.content { verified.withLock { $0 = newest } }
            return
        }
    }

    /// Has the file on the disk; the result is the system's error number, or 0.
    func synchronize() -> Int32 { descriptor.withLock { $0 < 0 || CheckpointFile.sync($0) == 0 ? 0 : errno } }

    /// Removes both seals, so that no entry is trusted.
    func unseal() {
        trustedMark.store(0, ordering: .relaxed)
        for commit: UInt64 in [0, 1] {
            word(at: Seal.offset(of: commit))?.pointee.store(0, ordering: .sequentiallyConsistent)
        }
    }

    /// Seals a commit whose entries are in place.
    func seal(_ commit: UInt64, head: UnsafeRawBufferPointer, _ content: EntrySum, isRelaxed: Bool) {
        guard let first = word(at: Seal.offset(of: commit)) else { return }
        let seal = Seal(
            commit: commit, head: HeadDigest(head), content, session: session.load(ordering: .relaxed), file: file,
            isRelaxed: isRelaxed)
        // The number comes last, so that a seal which is half written is none.
        first.pointee.store(0, ordering: .sequentiallyConsistent)
        let words = seal.words
        for index in (0..<Seal.wordCount).reversed() { first[index].store(words[index], ordering: .releasing) }
    }

    /// A number for this start of the system and the mount on which a file lies. Where the system does not tell, it is
    /// one for this process.
    private static func session(of descriptor: Int32) -> UInt64 {
        guard let start = systemStart else { return processSession }
        return start.mixed(with: mount(of: descriptor))
    }

    static let processSession = UInt64.random(in: 1 ... .max)

    static let systemStart: UInt64? = {
        #if os(Linux)
            let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            let name = [UInt8](file, at: 0, count: 36)
        #else
            var bytes = [UInt8](repeating: 0, count: 64)
            var count = bytes.count
            let name = sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 ? bytes : nil
        #endif
        return name?.reduce(1) { $0.mixed(with: UInt64($1)) }
    }()

    static func mount(of descriptor: Int32) -> UInt64 {
        let mount = UInt64(clmdb_mount(descriptor))
        if mount != 0 { return mount }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(truncatingIfNeeded: status.st_dev) : 0
    }
}
