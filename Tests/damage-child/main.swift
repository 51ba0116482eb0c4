// Stores that are damaged, read whole by an app, saved onto and verified; what the campaign of damage runs, so that a
// signal is counted.
//
//     damage-child make STORE SEED BOOKS
//     damage-child judge STORE FIRST COUNT
//
// `make` leaves a copy of the file before its last commits, `data.old`. `judge` makes so many damaged copies of that
// store, one after the other, and judges each (`Judge`). Copy n has damage of kind n modulo the number of kinds, and is
// made with seed n divided by it, plus 1. It prints `at N PHASE` before each phase, `wrong N SENTENCE` for what is not as
// it should be, and `judged N KIND OUTCOME` at the end of each copy.

import Foundation
import Strata

enum Output {
    /// Written at once, so that what precedes a signal is known.
    static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

let arguments = CommandLine.arguments
do {
    guard arguments.count == 5, let first = Int(arguments[3]), let count = Int(arguments[4]) else { exit(2) }
    let path = arguments[2]
    switch arguments[1] {
    case "make":
        try Library.fill(Library.container(at: path), seed: UInt64(first), books: count) {
            try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: path + "/data.old")
        }
    case "judge":
        let judge = try Judge(of: path)
        for number in first..<first + count { try judge.judge(number) }
    default: exit(2)
    }
    Output.line("end")
} catch {
    Output.line("error \(Readings.code(of: error))")
    exit(1)
}
