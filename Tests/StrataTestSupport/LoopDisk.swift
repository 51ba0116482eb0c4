public import Foundation

/// An ext4 file system in a file, mounted below the temporary directory, whose power can be cut.
///
/// The cut is ext4's shutdown call: from then on nothing reaches the file, not even its journal. What is there when it is
/// mounted again is what a disk has after a power cut.
public final class LoopDisk {
    public let root: URL
    private let image: String

    /// Whether a test may mount one; found out once, by mounting one.
    public static let isPermitted: Bool = {
        do {
            let disk = try LoopDisk(sizeInMegabytes: 8)
            try disk.cutPower()
            try disk.mountAgain()
            return true
        } catch {
            return false
        }
    }()

    public init(sizeInMegabytes: Int) throws {
        root = FileManager.default.temporaryDirectory.appending(
            path: "strata-loop-\(UUID().uuidString)", directoryHint: .isDirectory)
        let path = root.path(percentEncoded: false)
        image = String(path.dropLast()) + ".image"
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        do {
            try Self.run("truncate", "-s", "\(sizeInMegabytes)M", image)
            try Self.run("mkfs.ext4", "-q", "-F", image)
            try mount()
        } catch {
            rmdir(path)
            unlink(image)
            throw error
        }
    }

    private func mount() throws {
        try Self.run("mount", "-o", "loop,errors=continue", image, root.path(percentEncoded: false))
    }

    /// Nothing is written from now on.
    public func cutPower() throws {
        #if os(Linux)
            let descriptor = open(root.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(descriptor) }
            // EXT4_IOC_SHUTDOWN, which is _IOR('X', 125, __u32); 2 leaves the journal unwritten.
            var manner: UInt32 = 2
            guard descriptor >= 0, ioctl(descriptor, 0x8004_587D, &manner) == 0 else {
                throw CocoaError(.featureUnsupported)
            }
        #else
            throw CocoaError(.featureUnsupported)
        #endif
    }

    /// As when the power is back.
    ///
    /// - Throws: `Held` if a process with mounts of its own has this one among them: the file system would still be the one
    ///   whose power was cut.
    public func mountAgain() throws {
        try Self.run("umount", root.path(percentEncoded: false))
        let deadline = ContinuousClock.now + .seconds(10)
        while try Self.run("losetup", "--associated", image).isEmpty == false {
            guard ContinuousClock.now < deadline else { throw Held() }
            usleep(1000)
        }
        try mount()
    }

    /// Another process still uses the file system.
    public struct Held: Error, CustomStringConvertible {
        public let description = "Another process holds the disk, perhaps in a mount namespace that it made meanwhile."
    }

    deinit {
        // The file system may be gone already.
        _ = try? Self.run("umount", "-l", root.path(percentEncoded: false))
        rmdir(root.path(percentEncoded: false))
        unlink(image)
    }

    /// Runs a program of the system, which has to succeed.
    ///
    /// - Returns: what it prints.
    @discardableResult private static func run(_ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
        return String(decoding: printed, as: UTF8.self)
    }
}
