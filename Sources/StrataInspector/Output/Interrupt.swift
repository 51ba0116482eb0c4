import Foundation
import Synchronization

/// Ctrl-C and SIGTERM, for commands that end at a place of their own choosing: between two transactions. The second
/// one ends the program where it is, which the store survives too.
enum Interrupt {
    private static let received = Atomic<Int32>(0)

    /// A parent may have started the program with them blocked.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }

    static func watch() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interrupt.received.store(number, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// The exit code to end with; nil while nobody has asked for it.
    static var exitCode: Int32? {
        let number = received.load(ordering: .relaxed)
        return number == 0 ? nil : 128 + number
    }
}
