// One process among several that work on the accounts of a store at once; prints its report as JSON when it is done.
//
//     race-child STORE SEED STEPS [ADDRESS LINEAGE [MILLISECONDS]]
//
// With the address of a database and the name of a log there, the store is one of those that share it; MILLISECONDS says
// how long it tries to reach the log. With the seed 0 it saves notes until it is killed, prints the author of each before
// and after it was saved, and what it sees then:
//
//     begin TIME AUTHOR
//     saved TIME AUTHOR
//     looks BEGIN END TRANSACTION DIGEST
//
// TIME is in nanoseconds since the start of the system.

import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport

let arguments = CommandLine.arguments
guard [4, 6, 7].contains(arguments.count), let seed = UInt64(arguments[2]), let steps = Int(arguments[3])
else {
    FileHandle.standardError.write(Data("usage: race-child STORE SEED STEPS [ADDRESS LINEAGE [MILLISECONDS]]\n".utf8))
    exit(2)
}
let timeout = arguments.count == 7 ? Duration.milliseconds(Int(arguments[6]) ?? 0) : .seconds(30)
let log =
    arguments.count > 4 ? PersistentStoreLog.postgres(arguments[4], lineage: arguments[5], timeout: timeout) : nil
let container = try whenTheLogAnswers {
    try RaceWorld.container(at: .url(URL(filePath: arguments[1], directoryHint: .isDirectory)), log: log)
}
if seed == 0 {
    try saveUntilKilled(container, steps)
    exit(0)
}
var worker = RaceWorker(container, seed: seed, name: "process \(seed)")
for _ in 0..<steps { try worker.step() }
FileHandle.standardOutput.write(try JSONEncoder().encode(worker.report))
container.close()

/// Does something again until the log can be reached.
func whenTheLogAnswers<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
        do { return try body() } catch let error as StrataError
            where error.code == .inDoubt || error.code == .logUnavailable
        { usleep(20_000) }
    }
}

/// A save that is in doubt or could not be made is repeated until it is made.
func saveUntilKilled(_ container: PersistentContainer, _ count: Int) throws {
    func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
    let context = container.newBackgroundContext()
    let name = UUID().uuidString
    for number in 0..<count {
        let author = "\(name)/\(number)"
        context.transactionAuthor = author
        try whenTheLogAnswers { try context.insertNewObject(forEntityName: "Note") }.setValue(author, forKey: "text")
        say("begin \(now()) \(author)")
        try whenTheLogAnswers { try context.save() }
        say("saved \(now()) \(author)")
        let begin = now()
        let position = try container.store.logPosition()
        let digest = position.digest.map { String(format: "%02x", $0) }.joined()
        say("looks \(begin) \(now()) \(position.transaction.rawValue) \(digest)")
    }
}
