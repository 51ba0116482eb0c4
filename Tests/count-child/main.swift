// Does fixed work on a store and prints what it took, as JSON: what the tests of counts hold against their table. A
// process of its own, so that nobody else's calls are counted.
//
//     count-child DIRECTORY

import FaultShim
import Foundation

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: count-child DIRECTORY\n".utf8))
    exit(2)
}
// The table is of pages of four kilobytes.
guard fault_available() == 1, sysconf(Int32(_SC_PAGESIZE)) == 4096 else {
    FileHandle.standardOutput.write(Data("{}".utf8))
    exit(0)
}
let work = try CountedWork(directory: URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory))
FileHandle.standardOutput.write(try JSONEncoder().encode(work.run()))
