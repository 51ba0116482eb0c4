import Foundation

/// A process that has ended, as one that was killed at work.
public enum EndedProcess {
    /// Its number.
    public static func number() throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/true")
        try process.run()
        process.waitUntilExit()
        return process.processIdentifier
    }
}
