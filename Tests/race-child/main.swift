// One process among several that work on the accounts of a store at once; prints its report as JSON when it is done.
//
//     race-child STORE SEED STEPS [ADDRESS LINEAGE]
//
// With the address of a database and the name of a log there, the store is one of those that share it. With the seed 0
// it saves notes until it is killed, and prints the author of each before and after it was saved.

import Foundation
import StrataGraph
import StrataModel
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
if seed == 0 {
    try saveUntilKilled(container, steps)
    exit(0)
}
var worker = RaceWorker(container, seed: seed, name: "process \(seed)")
for _ in 0..<steps { try worker.step() }
FileHandle.standardOutput.write(try JSONEncoder().encode(worker.report))
container.close()

/// A save that is in doubt or could not be made is repeated until it is made.
func saveUntilKilled(_ container: PersistentContainer, _ count: Int) throws {
    func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    let context = container.newBackgroundContext()
    let name = UUID().uuidString
    for number in 0..<count {
        let author = "\(name)/\(number)"
        context.transactionAuthor = author
        try context.insertNewObject(forEntityName: "Note").setValue(author, forKey: "text")
        say("begin \(author)")
        while context.hasChanges {
            do { try context.save() } catch let error as StrataError
                where error.code == .inDoubt || error.code == .logUnavailable
            { usleep(20_000) }
        }
        say("saved \(author)")
    }
}
