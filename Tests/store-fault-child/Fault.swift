import FaultShim
import Foundation
import StrataModel

/// The operating system, told to fail.
enum Fault {
    /// Runs `body` while the nth of the calls fails, and says how many did.
    static func during<R>(
        _ classes: Int, nth: Int = 1, count: Int = 1, error: Int32 = ENOSPC, manner: Int = FAULT_REFUSE,
        _ body: () throws -> R
    ) -> (result: Result<R, any Error>, hits: Int) {
        fault_arm(Int32(classes), nth, count, error, Int32(manner))
        let result = Result { try body() }
        return (result, fault_disarm())
    }
}

/// Says what was found wrong and ends the program; the tests show what it printed.
func fail(_ text: String) -> Never {
    say("FAILED: \(text)")
    exit(1)
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { fail(text()) }
}

/// Prints a line at once: a program that is killed loses nothing it said.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
