public import Foundation

/// A file system in memory of a given size, mounted below the temporary directory and unmounted at the end.
public final class MountedDisk {
    public let root: URL

    /// Whether a test may mount one; found out once, by mounting one.
    public static let isPermitted: Bool = {
        do {
            _ = try MountedDisk(sizeInBytes: 64 << 10)
            return true
        } catch {
            return false
        }
    }()

    public init(sizeInBytes: Int) throws {
        root = FileManager.default.temporaryDirectory.appending(path: "strata-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        do {
            try Self.run(
                "mount", "-t", "tmpfs", "-o", "size=\(sizeInBytes),mode=0700", "tmpfs",
                root.path(percentEncoded: false))
        } catch {
            rmdir(root.path(percentEncoded: false))
            throw error
        }
    }

    /// From now on nothing can be written.
    public func protect() throws { try Self.run("mount", "-o", "remount,ro", root.path(percentEncoded: false)) }

    /// Makes it larger.
    public func grow(toBytes size: Int) throws {
        try Self.run("mount", "-o", "remount,size=\(size)", root.path(percentEncoded: false))
    }

    deinit {
        try? Self.run("umount", "-l", root.path(percentEncoded: false))
        rmdir(root.path(percentEncoded: false))
    }

    /// Runs a program of the system, which has to succeed.
    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
    }
}
