import Foundation

/// The files of the front end, read once. Only these can be asked for, so a path never reaches the file system.
struct StaticFiles: Sendable {
    struct File: Sendable {
        let contentType: String
        let content: Data
    }

    /// By name.
    let files: [String: File]
    /// The part of addresses that no other run of the program has; `index.html` names the files with it.
    let version = String(UInt64.random(in: 0...UInt64.max), radix: 16)

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "png": "image/png",
    ]

    /// - Throws: an error of the file system if the files of the program are not there.
    init() throws {
        let folder = Bundle.module.bundleURL.appending(path: "Public", directoryHint: .isDirectory)
        var files: [String: File] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) {
            let url = folder.appending(component: name)
            guard let type = Self.types[url.pathExtension] else { continue }
            var content = try Data(contentsOf: url)
            if url.pathExtension == "html" {
                let page = String(decoding: content, as: UTF8.self)
                content = Data(page.replacing("\"/-/", with: "\"/-/\(version)/").utf8)
            }
            files[name] = File(contentType: type, content: content)
        }
        self.files = files
    }
}
