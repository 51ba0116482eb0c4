// One process among several that work on the accounts of a store at once; prints its report as JSON when it is done.
//
//     race-child STORE SEED STEPS

import Foundation
import StrataGraph
import StrataTestSupport

let arguments = CommandLine.arguments
guard arguments.count == 4, let seed = UInt64(arguments[2]), let steps = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: race-child STORE SEED STEPS\n".utf8))
    exit(2)
}
let container = try RaceWorld.container(at: .url(URL(filePath: arguments[1], directoryHint: .isDirectory)))
var worker = RaceWorker(container, seed: seed, name: "process \(seed)")
for _ in 0..<steps { try worker.step() }
FileHandle.standardOutput.write(try JSONEncoder().encode(worker.report))
container.close()
