import Foundation

/// A PostgreSQL that a benchmark starts on a socket in a folder, and stops.
///
/// It is set up as `initdb` leaves it: a commit is on the disk when it is acknowledged.
final class PostgresServer {
    /// What libpq connects to.
    let address: String
    private let programs: URL
    private let folder: URL

    /// - Parameter directory: of other users as well if this process is root's, because PostgreSQL does not run as root.
    init(in directory: URL) throws {
        programs = try Self.programs()
        // The name of a socket has less than 108 bytes.
        folder = directory.appending(path: "postgres", directoryHint: .isDirectory)
        address = "postgresql:///postgres?host=\(folder.path(percentEncoded: false))&user=strata"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            try Self.run("/bin/chmod", ["711", directory.path(percentEncoded: false)])
            try Self.run("/bin/chown", ["postgres", folder.path(percentEncoded: false)])
        }
        try call("initdb", ["-D", path("data"), "-A", "trust", "-U", "strata", "--no-instructions"])
        try call(
            "pg_ctl",
            [
                "-D", path("data"), "-l", path("log"), "-w", "-o",
                "-k \(folder.path(percentEncoded: false)) -c listen_addresses= -c max_connections=100", "start",
            ])
    }

    func stop() throws { try call("pg_ctl", ["-D", path("data"), "-m", "fast", "-w", "stop"]) }

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    private static func programs() throws -> URL {
        let root = URL(filePath: "/usr/lib/postgresql", directoryHint: .isDirectory)
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))) ?? []
        let newest = versions.max { (Int($0) ?? 0) < (Int($1) ?? 0) }
        guard let newest else {
            throw BenchError("There is no PostgreSQL in \(root.path()). Install it, or give the address of one.")
        }
        return root.appending(path: "\(newest)/bin", directoryHint: .isDirectory)
    }

    private func call(_ program: String, _ arguments: [String]) throws {
        let path = programs.appending(path: program).path(percentEncoded: false)
        guard getuid() == 0 else { return try Self.run(path, arguments) }
        try Self.run(
            "/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--init-groups", path] + arguments)
    }

    /// The server must not keep the descriptors by which this process sees its starter end.
    private static let closing =
        #"for file in /proc/self/fd/*; do n=${file##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done; exec "$@""#

    private static func run(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", closing, "bash", path] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(filePath: "/")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError("\(path) failed.") }
    }
}
