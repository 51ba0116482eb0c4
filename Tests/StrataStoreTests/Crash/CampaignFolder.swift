import Foundation
import StrataTestSupport

/// A temporary directory for many stores, and the program that works in it. It is removed with this object.
final class CampaignFolder {
    let root: URL
    private let child = BuiltProgram("store-crash-child")

    init() throws {
        // In memory, where there is such a place: hundreds of stores are written.
        let shared = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isThere = FileManager.default.isWritableFile(atPath: shared.path(percentEncoded: false))
        root = (isThere ? shared : FileManager.default.temporaryDirectory)
            .appending(path: "strata-campaign-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    var path: String { root.path(percentEncoded: false) }

    func run(_ arguments: [String], limit: Duration) throws -> BuiltProgram.Result {
        try child.run(arguments, environment: ["SWIFT_BACKTRACE": "enable=no"], limit: limit)
    }
}
