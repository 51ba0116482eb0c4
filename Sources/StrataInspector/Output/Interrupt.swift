import Dispatch
import Foundation
import Locking
import StrataStore
import Synchronization

/// Handles Ctrl-C, SIGTERM and SIGHUP. Commands that only read end at once, as every program does; commands that write
/// choose here where they end.
enum Interrupt {
    private static let received = Atomic<Int32>(0)

    /// The signals that end the program. `nohup` has it ignore that its terminal is closed.
    private static let signals: [Int32] = {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        #if os(Linux)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sigaction_u.__sa_handler
        #endif
        let isIgnored = unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        return [SIGINT, SIGTERM] + (isIgnored ? [] : [SIGHUP])
    }()

    /// Whether a signal is one of those by which users end programs.
    static func isEnd(_ number: Int32) -> Bool { [SIGINT, SIGTERM, SIGHUP].contains(number) }

    /// A parent may have started the program with them blocked.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in Self.signals { sigaddset(&signals, number) }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
        // A file that grows beyond the limit of the shell is an error of `write` then.
        signal(SIGXFSZ, SIG_IGN)
    }

    // MARK: Between two transactions

    /// The command checks `exitCode` between two transactions. A second signal ends the program at once, which does not
    /// harm the store either.
    static func watch() {
        for number in signals {
            signal(number) { number in
                Interrupt.received.store(number, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// The exit code to end with; nil while no signal has come.
    static var exitCode: Int32? {
        let number = received.load(ordering: .relaxed)
        return number == 0 ? nil : 128 + number
    }

    // MARK: At once

    private static let queue = DispatchQueue(label: "strata.interrupt")
    private static let sources = Locked<[any DispatchSourceSignal]>([])
    private static let ending = Atomic<Bool>(false)
    private static let cleanUp = Locked<(@Sendable () -> String)?>(nil)

    /// Whether a signal is ending the program, on another thread.
    static var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// From now on a signal ends the program at once: `cleanUp` runs on a thread of its own, its result is printed, and
    /// the exit code is 128 plus the signal's number.
    static func endAtOnce(_ cleanUp: @escaping @Sendable () -> String) {
        self.cleanUp.withLock { $0 = cleanUp }
        handle { number in
            ending.store(true, ordering: .relaxed)
            let note = cleanUp()
            Terminal.clearErrorLine()
            Output.printError("strata: interrupted; \(note)")
            _exit(128 + number)
        }
    }

    /// The same for a command that makes a store.
    static func endAtOnce(making target: String) {
        let url = URL(filePath: target, directoryHint: .isDirectory)
        endAtOnce {
            Store.abandonCopies(to: url)
            let isMade = FileManager.default.fileExists(atPath: target + "/data.mdb")
            return isMade ? "\(target) is whole already." : "nothing was made at \(target)."
        }
    }

    /// Removes unfinished files, for callers that end the program for another reason.
    static func takeAway() {
        ending.store(true, ordering: .relaxed)
        if let cleanUp = cleanUp.withLock({ $0 }) { _ = cleanUp() }
    }

    /// Passes signals on to a child from now on; this process waits for the child.
    static func hand(to child: pid_t) { handle { number in kill(child, number) } }

    /// Restores the default handling of signals.
    static func release() {
        finish()
        for number in signals { signal(number, SIG_DFL) }
    }

    private static func handle(_ body: @escaping @Sendable (Int32) -> Void) {
        for number in signals {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { body(number) }
            source.resume()
            sources.withLock { $0.append(source) }
        }
    }

    /// Ignores signals from now on: the rest takes only a moment and should be finished.
    static func finish() {
        cleanUp.withLock { $0 = nil }
        sources.withLock { sources in
            for source in sources { source.cancel() }
            sources.removeAll()
        }
        // If a signal is being handled, the program ends here.
        queue.sync {}
    }

    /// Waits for the end if a signal is being handled: the command failed only because its files are being removed.
    static func waitForEnd() {
        while isEnding { pause() }
    }
}
