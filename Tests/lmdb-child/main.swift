// The other process in tests of the LMDB layer: does one thing with a store, says so on standard output, and in most
// cases waits to be killed. `lmdb-child <command> <directory> [number]`.

import Glibc
import LMDB

signal(SIGXFSZ, SIG_IGN)
guard CommandLine.arguments.count >= 3 else { exit(64) }

let command = CommandLine.arguments[1]
let path = CommandLine.arguments[2]
let number = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 0 : 0

do {
    try Child(path: path, number: number).run(command)
} catch {
    say(error)
}

/// Writes a line to standard output, at once.
func report(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    _ = write(1, &bytes, bytes.count)
}

/// Reports "error CODE" for a failure.
func say(_ error: any Error) {
    if let error = error as? LMDBError { report("error \(error.code)") } else { report("error \(error)") }
}

/// Says what was reached, and sleeps until a signal ends the process.
func waitForever(_ text: String) -> Never {
    report(text)
    while true { pause() }
}
