import Foundation
import Locking
import StrataModel
import StrataStore
import Synchronization

/// Turns the signal that a damaged file causes into a clear error.
///
/// LMDB follows the page numbers of the file unchecked. On a damaged page it reads an address that does not exist,
/// which raises a signal, or calls `abort`. Checking every page before use would cost each read; handling the signal
/// costs nothing. The program then prints what it had buffered, removes unfinished files, and ends with exit code 1.
///
/// A signal handler may call almost nothing, so it wakes a waiting thread, and that thread ends the program. If memory is
/// so damaged that the thread does not run, the handler itself ends the program with a message made in advance.
enum DamageGuard {
    /// The stores that are open; none before one is opened.
    private static let stores = Locked<[String]>([])
    /// The end of the pipe to write to, which wakes the thread.
    private static let alarm = Atomic<Int32>(-1)
    /// The handler's own message: zero-terminated bytes that are never freed.
    private static let lastWords = Atomic<UInt>(0)

    /// Signals that reading a damaged file can raise.
    private static let signalsOfDamage = [SIGSEGV, SIGBUS, SIGABRT, SIGFPE]
    /// Signals that failed checks of the program itself raise.
    private static let signalsOfTraps = [SIGILL, SIGTRAP]

    /// Reports signals as damage of this store, or of one of several, from now on.
    ///
    /// Does nothing in a child that reads for a parent: the parent reports the signal.
    static func watch(_ paths: String...) { watch(paths) }

    static func watch(_ paths: [String]) {
        stores.withLock { $0 = paths.map(\.droppingTrailingSlash) }
        guard !GuardedRun.isChild else { return }
        let words = (lines(of: SIGSEGV).joined(separator: "\n") + "\n").withCString { strdup($0) }
        // The old message is not freed: the handler may be reading it.
        lastWords.store(UInt(bitPattern: words), ordering: .releasing)
        if alarm.load(ordering: .relaxed) < 0 { start() }
    }

    // MARK: Messages

    /// Advice about a damaged store; nil if no store is open, or if the command is the advised one.
    static var advice: String? {
        guard ProcessInfo.processInfo.environment[GuardedRun.doctorNotesKey] == nil else { return nil }
        let paths = stores.withLock { $0 }
        let command = "'strata doctor\(paths.count == 1 ? " \(paths[0])" : "")'"
        return paths.isEmpty ? nil : "\(command) says what is lost and saves what is sound."
    }

    /// Advice if the error comes from a damaged store; nil for other errors.
    static func advice(on error: StrataError) -> String? {
        guard error.isOfForeignFile else { return error.code == .corrupt ? advice : nil }
        return advice.map { "If there was a store: \($0)" }
    }

    private static func lines(of number: Int32) -> [String] {
        let path = stores.withLock { $0 }.joined(separator: " or ")
        let end = "signal \(number) (\(String(cString: strsignal(number))))"
        if signalsOfTraps.contains(number) {
            return [
                "strata: The work on \(path) ended in \(end). That is a defect of the program: please report it, with the "
                    + "command and the output of 'strata --version'.",
                "strata: 'strata verify \(path)' looks whether the store is sound.",
            ]
        }
        return ["strata: The store at \(path) is damaged: reading it ended in \(end)."]
            + (advice.map { ["strata: \($0)"] } ?? [])
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
        for number in signalsOfDamage + signalsOfTraps { handle(number) }
    }

    /// Gives the handler a stack of its own, for the case that the thread's stack is exhausted.
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

    /// Runs on the thread that raised the signal, and does not return. Calls only async-signal-safe functions.
    private static func caught(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(alarm.load(ordering: .acquiring), &byte, 1)
        // Waits up to three seconds for the buffered output to be written.
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

    /// Runs on the waiting thread.
    private static func end(_ number: Int32) {
        Interrupt.takeAway()
        Output.shared.flush()
        Terminal.clearErrorLine()
        for line in lines(of: number) { Output.printError(line) }
        _exit(ExitStatus.problem)
    }
}
