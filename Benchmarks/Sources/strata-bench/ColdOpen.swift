import ArgumentParser
import Foundation
import StrataGraph
import StrataModel

/// Opens a store and reads objects; run as a process of its own.
struct ColdOpen: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cold-open", shouldDisplay: false)

    struct Result: Codable {
        let nanoseconds: Double
        /// Resident memory after, less resident memory before.
        let addedBytes: Int
    }

    @Argument var store: String
    @Argument var objects: [UInt64]

    func run() throws {
        let before = Self.residentBytes()
        var sum = 0.0
        let time = try nanoseconds {
            let container = try Workloads.open(URL(filePath: store, directoryHint: .isDirectory))
            let context = container.newBackgroundContext()
            for id in objects {
                sum += try context.existingObject(with: ObjectID(rawValue: id), as: Movie.self).rating
            }
        }
        precondition(sum > 0)
        let result = Result(nanoseconds: time, addedBytes: max(0, Self.residentBytes() - before))
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }

    private static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
