import CLMDBBare
import CSQLite
import Foundation

/// The machine and the versions that a run was made with.
struct Machine: Codable {
    let date: String
    let processor: String
    let cores: Int
    let memoryBytes: Int
    let system: String
    let load: [Double]
    /// By name: Swift, LMDB, SQLite, GRDB.
    let versions: [String: String]

    init() {
        date = Date.now.formatted(.iso8601.year().month().day())
        let information = ProcessInfo.processInfo
        processor = Self.lines("/proc/cpuinfo", "model name").first ?? "unknown processor"
        cores = information.activeProcessorCount
        memoryBytes = Int(clamping: information.physicalMemory)
        system = information.operatingSystemVersionString
        var averages = [0.0, 0.0, 0.0]
        getloadavg(&averages, 3)
        load = averages
        versions = [
            "Swift": Self.swift, "LMDB": Self.lmdb, "SQLite": String(cString: sqlite3_libversion()),
            "GRDB": Self.grdb,
        ]
    }

    var text: String {
        let all = versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let loads = load.map { String(format: "%.1f", $0) }.joined(separator: ", ")
        let gigabytes = memoryBytes / 1_000_000_000
        return "\(date), \(processor), \(cores) cores, \(gigabytes) GB, \(system); \(all); load \(loads)"
    }

    private static var swift: String {
        #if compiler(>=6.4)
            "6.4 or newer"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    private static var lmdb: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    /// GRDB's version by the package's `Package.resolved`, since GRDB has no function for it.
    private static var grdb: String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Package.resolved")
        struct Resolved: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { let version: String? }
                let identity: String
                let state: State
            }
            let pins: [Pin]
        }
        guard let data = try? Data(contentsOf: package),
            let resolved = try? JSONDecoder().decode(Resolved.self, from: data),
            let version = resolved.pins.first(where: { $0.identity == "grdb.swift" })?.state.version
        else { return "7.10.0 or newer" }
        return version
    }

    /// What follows the colon in lines of a file that begin with a name.
    static func lines(_ path: String, _ name: String) -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").filter { $0.hasPrefix(name) }.compactMap { line in
            line.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
