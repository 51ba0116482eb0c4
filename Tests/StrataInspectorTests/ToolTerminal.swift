import Foundation
import StrataTestSupport
import Testing

extension Tool {
    /// Which output leads to the terminal; the other one to a pipe.
    enum Shown {
        case output, error
    }

    /// Runs the program with one of its outputs on a pseudo terminal.
    static func onTerminal(
        _ arguments: [String], _ shown: Shown, environment: [String: String] = [:], width: Int? = nil
    ) throws -> Result {
        let terminal = try PseudoTerminal(width: width)
        let process = Process()
        process.executableURL = program.url
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let other = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = shown == .output ? terminal.slave : other
        process.standardError = shown == .error ? terminal.slave : other
        try process.run()
        try terminal.slave.close()
        let later = Later(other.fileHandleForReading)
        let text = terminal.readToEnd()
        let rest = String(decoding: later.bytes(), as: UTF8.self)
        process.waitUntilExit()
        return Result(
            output: shown == .output ? text : rest, error: shown == .error ? text : rest,
            exitCode: process.terminationStatus)
    }

    /// Runs the program with progress told from the start, and sends it a signal when it has told a line.
    ///
    /// - Returns: the exit code, or minus the signal that ended it, and the lines that it told.
    static func run(
        _ arguments: [String], sending signal: Int32, at isMoment: (String) -> Bool
    ) throws -> (exitCode: Int32, lines: [String]) {
        let process = Process()
        process.executableURL = program.url
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["STRATA_PROGRESS": "0"]) { $1 }
        let error = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = error
        try process.run()
        var lines: [String] = []
        var rest = ""
        var isSent = false
        while let data = try error.fileHandleForReading.read(upToCount: 1), !data.isEmpty {
            guard data != Data("\n".utf8) else {
                lines.append(rest)
                if !isSent, isMoment(rest) {
                    kill(process.processIdentifier, signal)
                    isSent = true
                }
                rest = ""
                continue
            }
            rest += String(decoding: data, as: UTF8.self)
        }
        process.waitUntilExit()
        let code = process.terminationStatus
        return (process.terminationReason == .exit ? code : -code, lines)
    }
}

/// A terminal that nobody sits at.
private struct PseudoTerminal {
    let slave: FileHandle
    private let master: FileHandle

    init(width: Int? = nil) throws {
        let (descriptor, path) = try Self.unlocked()
        master = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(other >= 0)
        // Bytes as the program writes them.
        var settings = termios()
        tcgetattr(other, &settings)
        cfmakeraw(&settings)
        tcsetattr(other, TCSANOW, &settings)
        if let width {
            var size = winsize(ws_row: 40, ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
            try #require(ioctl(other, UInt(TIOCSWINSZ), &size) == 0)
        }
        slave = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    }

    /// The master's descriptor, and the path of the other end.
    private static func unlocked() throws -> (Int32, String) {
        #if os(Linux)
            // glibc shows its functions for it to GNU sources only: these are the calls below them.
            let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var (lock, number) = (Int32(0), UInt32(0))
            let isOpen =
                descriptor >= 0 && ioctl(descriptor, 0x4004_5431, &lock) == 0
                && ioctl(descriptor, 0x8004_5430, &number) == 0
            try #require(isOpen)
            return (descriptor, "/dev/pts/\(number)")
        #else
            let descriptor = posix_openpt(O_RDWR | O_NOCTTY)
            let isOpen = descriptor >= 0 && grantpt(descriptor) == 0 && unlockpt(descriptor) == 0
            try #require(isOpen)
            return (descriptor, String(cString: try #require(ptsname(descriptor))))
        #endif
    }

    /// What was written until nobody has it open any more.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(master.fileDescriptor, &block, block.count)
            if count > 0 {
                bytes += block[..<count]
            } else if count == 0 || errno != EINTR {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}
