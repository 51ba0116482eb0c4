// Works on stores while the operating system fails, and says what came of it; the fault tests read what it prints.
//
//     store-fault-child sweep DIRECTORY ERRNO MANNER
//     store-fault-child doubt DIRECTORY
//     store-fault-child threads DIRECTORY
//     store-fault-child names DIRECTORY

import FaultShim
import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    say("usage: store-fault-child sweep DIRECTORY ERRNO MANNER | doubt|threads|names DIRECTORY")
    exit(2)
}
guard fault_available() == 1 else {
    say("unavailable")
    exit(0)
}
let root = URL(filePath: arguments[2], directoryHint: .isDirectory)
do {
    switch (arguments[1], arguments.count) {
    case ("sweep", 5):
        try Sweep(root: root, error: Int32(arguments[3]) ?? EIO, manner: Int(arguments[4]) ?? FAULT_REFUSE).run()
    case ("doubt", 3): try Doubt(root: root).run()
    case ("threads", 3): try await NoThreads(root: root).run()
    case ("names", 3): try Names(root: root).run()
    default: fail("unknown work")
    }
    say("done")
} catch {
    fail("\(error)")
}
