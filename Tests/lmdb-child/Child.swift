import FaultShim
import Glibc
import LMDB
import Locking

/// What the other process can do.
struct Child {
    let path: String
    let number: Int

    private func open(_ change: (inout EnvironmentOptions) -> Void = { _ in }) throws -> (Environment, Table) {
        var options = EnvironmentOptions()
        change(&options)
        let environment = try Environment.open(at: path, options: options)
        return (environment, try environment.openTables(["t"])[0])
    }

    func run(_ command: String) throws {
        switch command {
        case "open": try openOnly()
        case "open-often": try openOften()
        case "hold-directory":
            mkdir(path, 0o700)
            try hold("the directory", Glibc.open(path, O_RDONLY | O_DIRECTORY))
        case "hold-checkpoint": try hold("the checkpoint", Glibc.open(path + "/checkpoint", O_RDWR))
        case "hold-checkpoint-lock": holdRecords(of: "checkpoint", "the lock of checkpoints", length: 0)
        case "hold-lock-file": holdRecords(of: "lock.mdb", "the lock file", length: 1)
        case "hold-read": try holdRead()
        case "hold-write": try holdWrite()
        case "append": try append(sizeInBytes: 1_000)
        case "append-forever": try appendForever()
        case "change-forever": try changeForever()
        case "read-forever": try readForever()
        case "in-memory": try inMemory()
        case "file-size-limit": try fileSizeLimit()
        case "address-space-limit": try addressSpaceLimit()
        case "many-stores": try manyStores()
        case "fork": try fork()
        case "inherited-descriptors": try inheritedDescriptors()
        case "use-after-end": try useAfterEnd()
        case "nested-write": try nestedWrite()
        case "copy-unsynced": try copyUnsynced()
        case "make-unsynced": makeUnsynced()
        default: report("unknown command")
        }
    }

    /// Opens and reads every record.
    private func openOnly() throws {
        let environment = try Environment.open(at: path)
        let table = try environment.openTables(["t"])[0]
        var count = 0
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor in while try cursor.next() { count += 1 } }
        }
        report("records \(count)")
    }

    /// Opens the store again and again.
    private func openOften() throws {
        var options = EnvironmentOptions()
        options.access = .readWrite(create: false)
        for _ in 0..<number {
            let environment = try Environment.open(at: path, options: options)
            let table = try environment.openTables(["t"])[0]
            let count = try environment.read { try $0.count(table) }
            guard [10, 20].contains(count) else { return report("records \(count)") }
            try environment.close()
        }
        report("opened \(number)")
    }

    private func hold(_ what: String, _ descriptor: Int32) throws {
        guard flock(descriptor, LOCK_EX) == 0 else { return report("no lock") }
        waitForever("holding \(what)")
    }

    /// Locks the first bytes of a file, or all for 0.
    private func holdRecords(of name: String, _ what: String, length: off_t) {
        let descriptor = Glibc.open(path + "/" + name, O_RDWR)
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: length, l_pid: 0)
        guard fcntl(descriptor, F_SETLK, &lock) == 0 else { return report("no lock") }
        waitForever("holding \(what)")
    }

    private func holdRead() throws {
        let (environment, _) = try open()
        let readers = try (0..<max(1, number)).map { _ in try environment.beginRead() }
        waitForever("holding \(readers.count)")
    }

    private func holdWrite() throws {
        let (environment, table) = try open()
        let transaction = try environment.beginWrite()
        let bytes = [UInt8](repeating: 1, count: 100)
        try bytes.withUnsafeBytes { try transaction.put(table, UInt64.max, $0) }
        waitForever("holding a write")
    }

    /// Appends `number` records behind the last one.
    private func append(sizeInBytes: Int) throws {
        let (environment, table) = try open()
        let last = try environment.write { transaction in try appendRecords(transaction, table, sizeInBytes) }
        report("appended to \(last)")
    }

    private func appendRecords(
        _ transaction: WriteTransaction, _ table: Table, _ sizeInBytes: Int
    ) throws -> UInt64 {
        var next = try transaction.withCursor(table) { cursor in
            try cursor.last() ? UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)) + 1 : 0
        }
        for _ in 0..<number {
            let bytes = try transaction.reserve(table, next, sizeInBytes: sizeInBytes, placement: .last)
            bytes.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: next))
            next += 1
        }
        return next
    }

    /// Commits one record after the other and names each once it is committed.
    private func appendForever() throws {
        let (environment, table) = try open { $0.durability = .relaxed }
        let one = Child(path: path, number: 1)
        while true {
            let next = try environment.write { try one.appendRecords($0, table, 100) }
            report("\(next - 1)")
        }
    }

    /// Changes ten of the first `number` records in each commit, all over the table, to its number, which the record behind
    /// them has too, and names it once it is committed.
    private func changeForever() throws {
        let (environment, table) = try open { $0.durability = .relaxed }
        let records = UInt64(number)
        while true {
            let commit = try environment.write { transaction in
                let last = try transaction.get(table, records)?.loadUnaligned(as: UInt64.self) ?? 0
                for key in (0..<10).map({ (last * 10 + $0) * 7919 % records }) + [records] {
                    let bytes = try transaction.reserve(table, key, sizeInBytes: 1500)
                    bytes.initializeMemory(as: UInt8.self, repeating: 0)
                    bytes.storeBytes(of: last + 1, as: UInt64.self)
                }
                return last + 1
            }
            report("\(commit)")
        }
    }

    /// Reads all records again and again; their keys must have no gap.
    private func readForever() throws {
        let (environment, table) = try open()
        report("reading")
        var last: UInt64 = 0
        while getppid() != 1 {
            let (count, highest) = try environment.read { transaction in
                let count = try transaction.count(table)
                let highest = try transaction.withCursor(table) { cursor in
                    try cursor.last() ? UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)) + 1 : 0
                }
                return (UInt64(count), highest)
            }
            guard count == highest, count >= last else { return report("torn \(count) \(highest) \(last)") }
            last = count
            if number > 0, count >= UInt64(number) { return report("read \(count)") }
        }
    }

    private func inMemory() throws {
        let (environment, table) = try open {
            $0.residence = .unlinkedAfterOpen
            $0.durability = .disposable
        }
        _ = try environment.write { try Child(path: path, number: 10).appendRecords($0, table, 100) }
        waitForever("holding \(try environment.read { try $0.count(table) })")
    }

    /// Meets the limit on file sizes in a commit, then goes on after it is lifted.
    private func fileSizeLimit() throws {
        let (environment, table) = try open()
        let big = Child(path: path, number: 1_000)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(1), &limit)  // RLIMIT_FSIZE
        let unlimited = limit
        limit.rlim_cur = rlim_t(number)
        setrlimit(__rlimit_resource_t(1), &limit)
        do {
            _ = try environment.write { try big.appendRecords($0, table, 1_000) }
            report("committed")
        } catch {
            say(error)
        }
        report("records \(try environment.read { try $0.count(table) })")
        var lifted = unlimited
        setrlimit(__rlimit_resource_t(1), &lifted)
        _ = try environment.write { try big.appendRecords($0, table, 1_000) }
        report("records \(try environment.read { try $0.count(table) })")
    }

    /// Opens with less address space than the default map asks for.
    ///
    /// A sanitizer's shadow memory is larger than any limit worth trying; then the map is limited by hand.
    private func addressSpaceLimit() throws {
        guard try addressSpaceInUse() < number else {
            let (environment, table) = try open { $0.mapSizeInBytes = 1 << 30 }
            _ = try environment.write { try Child(path: path, number: 10).appendRecords($0, table, 100) }
            return report("smaller")
        }
        var limit = rlimit(rlim_cur: rlim_t(number), rlim_max: rlim_t(number))
        setrlimit(__rlimit_resource_t(9), &limit)  // RLIMIT_AS
        let (environment, table) = try open()
        _ = try environment.write { try Child(path: path, number: 10).appendRecords($0, table, 100) }
        report(environment.mapSizeInBytes < number ? "smaller" : "not smaller")
    }

    /// Opens `number` stores at once and then asks for a thread and for memory.
    private func manyStores() throws {
        let environments = try (0..<number).map { try Environment.open(at: "\(path)/\($0)") }
        let mapped = environments.reduce(0) { $0 + $1.mapSizeInBytes }
        let room = mmap(nil, 64 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        try BackgroundThread.start("other") {}
        report(mapped < 4 << 40 && room != MAP_FAILED ? "room" : "no room beside \(mapped) bytes")
        for environment in environments { try environment.close() }
        // What is closed gives back what it took.
        let last = try Environment.open(at: "\(path)/0")
        report(last.mapSizeInBytes == 256 << 30 ? "whole" : "\(last.mapSizeInBytes) bytes")
    }

    private func addressSpaceInUse() throws -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        return atol(&line) * Int(getpagesize())
    }

    /// Uses an environment on both sides of a fork.
    private func fork() throws {
        let (environment, table) = try open()
        guard let symbol = dlsym(nil, "fork") else { return report("no fork") }
        let forkProcess = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = forkProcess()
        if child == 0 {
            do { try environment.read { _ in report("child read") } } catch { say(error) }
            do { try environment.write { _ in report("child wrote") } } catch { say(error) }
            // A child that opens the store itself is welcome.
            let own = try Environment.open(at: path)
            let ownTable = try own.openTables(["t"])[0]
            _ = try own.write { try Child(path: path, number: 1).appendRecords($0, ownTable, 100) }
            report("child appended")
            try own.close()
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        report("records \(try environment.read { try $0.count(table) })")
    }

    /// Counts the descriptors of the store's files that a started program would inherit.
    private func inheritedDescriptors() throws {
        let (environment, _) = try open()
        var count = 0
        for descriptor in Int32(3)..<256 {
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0 else { continue }
            var target = [UInt8](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            if length > 0, String(decoding: target[..<length], as: UTF8.self).hasPrefix(path) { count += 1 }
        }
        report("inherited \(count)")
        try environment.close()
    }

    /// Makes a new environment while the sync with this number fails.
    private func makeUnsynced() {
        guard fault_available() == 1 else { return report("unavailable") }
        fault_arm(Int32(FAULT_SYNC), number, 1, EIO, Int32(FAULT_REFUSE))
        do { _ = try Environment.open(at: path) } catch { say(error) }
        let failures = fault_disarm()
        let isNamed = access(path + "/data.mdb", F_OK) == 0
        report("\(failures) failed, \(isNamed ? "named" : "nothing there")")
    }

    /// Copies the store while the `number`th sync fails, and says whether the copy has its name.
    private func copyUnsynced() throws {
        guard fault_available() == 1 else { return report("unavailable") }
        let (environment, _) = try open()
        let target = path + "/copy"
        fault_arm(Int32(FAULT_SYNC), number, 1, EIO, Int32(FAULT_REFUSE))
        do { try environment.copy(to: target) } catch { say(error) }
        let failures = fault_disarm()
        let isNamed = access(target + "/data.mdb", F_OK) == 0
        report("\(failures) failed, \(isNamed ? "named" : "nothing there")")
        try environment.close()
    }

    private func useAfterEnd() throws {
        let (environment, table) = try open()
        let transaction = try environment.beginRead()
        environment.end(transaction)
        try environment.read { _ in report("count \(try transaction.count(table))") }
    }

    private func nestedWrite() throws {
        let (environment, _) = try open()
        try environment.write { _ in try environment.write { _ in report("nested") } }
    }
}
