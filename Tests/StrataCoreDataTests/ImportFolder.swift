import Foundation

/// A directory that is removed at the end of the test.
final class ImportFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "strata-coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var file: String { url.appending(path: "Library.sqlite").path }
    var store: URL { url.appending(path: "Library.strata", directoryHint: .isDirectory) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
