// A store made, read whole or saved onto by an app; what the campaign of damage runs, so that a signal is counted.
//
//     damage-child make STORE SEED BOOKS
//     damage-child read STORE
//     damage-child save STORE COUNT
//     damage-child log STORE
//
// `make` leaves a copy of the file before its last commits, data.old. Each line of `read` and `log` says a part and its
// digest, or the error that was thrown in its place. `save` says each save that succeeded.

import Foundation
import Strata
import StrataStore

enum Output {
    /// Written at once, so that what precedes a signal is known.
    static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

let arguments = CommandLine.arguments
do {
    let path = arguments[2]
    switch arguments[1] {
    case "make":
        try Library.fill(
            Library.container(at: path), seed: UInt64(arguments[3]) ?? 1, books: Int(arguments[4]) ?? 2000
        ) {
            try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: path + "/data.old")
        }
    case "read": Readings(container: try Library.container(at: path)).printAll()
    case "save": Saves(container: try Library.container(at: path)).run(Int(arguments[3]) ?? 10)
    case "log": try LogReadings(path: path).printAll()
    default: exit(2)
    }
    Output.line("end")
} catch let error as StrataError {
    Output.line("error \(Readings.code(of: error))")
}
