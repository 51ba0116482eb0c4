// One process among several that work on the accounts of a store at once; prints its report as JSON when it is done.
//
//     race-child STORE SEED STEPS [ADDRESS LINEAGE]
//
// With the address of a database and the name of a log there, the store is one of those that share it.

import Foundation
import StrataGraph
import StrataPostgres
import StrataTestSupport

let arguments = CommandLine.arguments
guard arguments.count == 4 || arguments.count == 6, let seed = UInt64(arguments[2]), let steps = Int(arguments[3])
else {
    FileHandle.standardError.write(Data("usage: race-child STORE SEED STEPS [ADDRESS LINEAGE]\n".utf8))
    exit(2)
}
let log = arguments.count == 6 ? PersistentStoreLog.postgres(arguments[4], lineage: arguments[5]) : nil
let container = try RaceWorld.container(
    at: .url(URL(filePath: arguments[1], directoryHint: .isDirectory)), log: log)
var worker = RaceWorker(container, seed: seed, name: "process \(seed)")
for _ in 0..<steps { try worker.step() }
FileHandle.standardOutput.write(try JSONEncoder().encode(worker.report))
container.close()
