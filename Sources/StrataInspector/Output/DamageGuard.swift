import Foundation
import Locking
import StrataModel
import StrataStore
import Synchronization

/// Makes a clear error of the end that a damaged file puts to the program.
///
/// LMDB follows the pages of a file as they stand: on a damaged one it comes to a place that is none, which is a signal,
/// or gives up, which is `abort`. To hold every page against something before it is used would cost each read; the
/// signal costs nothing. So the exit code is 1 then, standard output is as far as it had been printed, and what was half
/// made is taken away.
///
/// The handler of a signal may do next to nothing. It wakes a thread that waits for this, which ends the program. Should
/// memory be so broken that this thread stays behind, the handler ends the program with words made beforehand.
enum DamageGuard {
    /// What the program is at work on; nil while it has not opened a store.
    private static let store = Locked<String?>(nil)
    /// The end of the pipe that wakes the thread.
    private static let alarm = Atomic<Int32>(-1)
    /// Where the words of the handler itself are: bytes that nobody frees, ended by a zero.
    private static let lastWords = Atomic<UInt>(0)

    /// Signals that reading a damaged file leads to.
    private static let signalsOfDamage = [SIGSEGV, SIGBUS, SIGABRT, SIGFPE]
    /// Signals of checks in the program itself.
    private static let signalsOfFaults = [SIGILL, SIGTRAP]

    /// From now on the store is what a signal is about.
    ///
    /// Does not guard a child that reads for a parent: that one tells about the signal.
    static func watch(_ path: String) {
        store.withLock { $0 = path.droppingTrailingSlash }
        guard !GuardedRun.isChild else { return }
        let words = (lines(of: SIGSEGV).joined(separator: "\n") + "\n").withCString { strdup($0) }
        // The one before may be in use; it is small.
        lastWords.store(UInt(bitPattern: words), ordering: .releasing)
        if alarm.load(ordering: .relaxed) < 0 { start() }
    }

    // MARK: Words

    /// What to do about a damaged store; nil where no store is at work, or where this is what is done already.
    static var advice: String? {
        guard ProcessInfo.processInfo.environment[GuardedRun.doctorNotesKey] == nil else { return nil }
        return store.withLock { $0 }.map { "'strata doctor \($0)' says what is lost, and saves what is sound." }
    }

    /// What to do about an error of a damaged store; nil for others.
    static func advice(on error: StrataError) -> String? {
        guard error.isOfForeignFile else { return error.code == .corrupt ? advice : nil }
        return advice.map { "If a store stood there: \($0)" }
    }

    private static func lines(of number: Int32) -> [String] {
        let path = store.withLock { $0 } ?? ""
        let end = "signal \(number) (\(String(cString: strsignal(number))))"
        let first =
            signalsOfFaults.contains(number)
            ? "strata: The work on \(path) ended in \(end). If the store is sound, this is a fault of the program."
            : "strata: The store at \(path) is damaged: reading it ended in \(end)."
        return [first] + (advice.map { ["strata: \($0)"] } ?? [])
    }

    // MARK: Signals

    private static func start() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        alarm.store(ends[1], ordering: .releasing)
        let source = ends[0]
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(source, &byte, 1) != 1 { guard errno == EINTR else { return } }
            end(Int32(byte))
        }
        giveStack()
        for number in signalsOfDamage + signalsOfFaults { handle(number) }
    }

    /// Room for the handler where the stack is what has come to its end.
    private static func giveStack() {
        let size = 1 << 16
        var stack = stack_t()
        stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        stack.ss_size = size
        sigaltstack(&stack, nil)
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        #if os(Linux)
            action.__sigaction_handler.sa_handler = { DamageGuard.caught($0) }
        #else
            action.__sigaction_u.__sa_handler = { DamageGuard.caught($0) }
        #endif
        action.sa_flags = Int32(SA_ONSTACK)
        sigaction(number, &action, nil)
    }

    /// On the thread that was struck, which goes no further. Calls only what a handler may call.
    private static func caught(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(alarm.load(ordering: .acquiring), &byte, 1)
        // Three seconds in which somebody takes what is printed.
        for _ in 0..<30 {
            var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
            _ = poll(&output, 1, -1)
            _ = poll(nil, 0, 100)
        }
        if let words = UnsafePointer<CChar>(bitPattern: lastWords.exchange(0, ordering: .acquiring)) {
            _ = write(STDERR_FILENO, words, strlen(words))
        }
        _exit(ExitStatus.problem)
    }

    /// On the thread that was waiting.
    private static func end(_ number: Int32) {
        Interrupt.takeAway()
        Output.shared.flush()
        if Terminal.isThere(STDERR_FILENO) { Output.printErrorPart("\r\u{1B}[K") }
        for line in lines(of: number) { Output.printError(line) }
        _exit(ExitStatus.problem)
    }
}
