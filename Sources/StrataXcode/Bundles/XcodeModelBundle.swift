public import Foundation
public import StrataModel

/// An `.xcdatamodeld` bundle with its versions, or a single `.xcdatamodel`.
public struct XcodeModelBundle: Sendable {
    /// The URL of the bundle.
    public let url: URL
    /// The names of the versions without extension, in numeric order.
    public let versionNames: [String]
    /// The name of the current version, or of the only one; nil if the bundle does not say which is current.
    public let currentVersionName: String?
    /// The error of reading the current version, which is thrown only if the caller names no version.
    private let currentVersionError: StrataError?
    private let versions: [String: URL]

    private static let bundleEnding = "xcdatamodeld"
    private static let versionEnding = "xcdatamodel"
    private static let currentVersionFile = ".xccurrentversion"
    private static let currentVersionKey = "_XCCurrentVersionName"

    /// Lists the versions in a bundle, without reading their models.
    ///
    /// - Throws: `invalidModelFile` if there is no model at the URL.
    public init(contentsOf url: URL) throws(StrataError) {
        self.url = url
        let path = url.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw Self.failure("There is no model at \(path).", path)
        }
        switch url.pathExtension {
        case Self.versionEnding:
            let name = url.deletingPathExtension().lastPathComponent
            versions = [name: url]
            currentVersionName = name
            currentVersionError = nil
        case Self.bundleEnding:
            versions = try Self.versions(in: url, path)
            do throws(StrataError) {
                currentVersionName = try Self.currentVersion(in: url, versions)
                currentVersionError = nil
            } catch {
                (currentVersionName, currentVersionError) = (nil, error)
            }
        case "momd", "mom":
            throw Self.failure("\(path) is a compiled model. Pass the .xcdatamodeld it was made from.", path)
        default:
            throw Self.failure("\(path) is neither an .\(Self.bundleEnding) nor an .\(Self.versionEnding).", path)
        }
        versionNames = versions.keys.sorted {
            $0.compare($1, options: .numeric) == .orderedAscending
        }
    }

    /// Reads a version of the model, by default the current one.
    ///
    /// - Throws: `invalidModelFile` if there is no version of that name, or its file cannot be read.
    public func model(version name: String? = nil) throws(StrataError) -> XcodeModel {
        let path = url.path
        guard let name = name ?? currentVersionName else {
            if let currentVersionError { throw currentVersionError }
            throw Self.failure(
                "\(path) has several versions and does not say which is current: "
                    + "\(versionNames.joined(separator: ", ")).", path)
        }
        let plain =
            name.hasSuffix("." + Self.versionEnding) ? String(name.dropLast(Self.versionEnding.count + 1)) : name
        guard let version = versions[plain] else {
            throw Self.failure(
                "\(path) has no version '\(plain)'. It has \(versionNames.joined(separator: ", ")).", path)
        }
        var contents = version.appending(component: "contents")
        let old = version.appending(component: "elements")
        if !FileManager.default.fileExists(atPath: contents.path), FileManager.default.fileExists(atPath: old.path) {
            contents = old
        }
        return try XcodeModel(
            contents: try Self.data(contents, limit: XMLReader.Limits().sizeInBytes), name: plain,
            path: contents.path)
    }

    // MARK: Files

    private static func failure(_ message: String, _ path: String, _ cause: (any Error)? = nil) -> StrataError {
        StrataError(.invalidModelFile, message, context: .init(path: path), cause: cause)
    }

    private static func versions(in url: URL, _ path: String) throws(StrataError) -> [String: URL] {
        let found: [URL]
        do {
            found = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        } catch {
            throw failure("\(path) cannot be read.", path, error)
        }
        let versions = found.filter { $0.pathExtension == versionEnding }
        guard !versions.isEmpty else { throw failure("\(path) has no .\(versionEnding) in it.", path) }
        return Dictionary(
            versions.map { ($0.deletingPathExtension().lastPathComponent, $0) }, uniquingKeysWith: { first, _ in first }
        )
    }

    private static func currentVersion(in url: URL, _ versions: [String: URL]) throws(StrataError) -> String? {
        let file = url.appending(component: currentVersionFile)
        let path = file.path
        guard FileManager.default.fileExists(atPath: path) else {
            return versions.count == 1 ? versions.keys.first : nil
        }
        let name = try CurrentVersionFile.name(in: try data(file, limit: 1 << 16), path: path)
        guard let name else { return versions.count == 1 ? versions.keys.first : nil }
        let plain = (name as NSString).deletingPathExtension
        guard versions[plain] != nil else {
            throw failure("\(path) names the version \(name), which does not exist.", path)
        }
        return plain
    }

    /// Reads a file.
    ///
    /// - Parameter limit: the largest number of bytes; a longer file is rejected without reading all of it.
    static func data(_ url: URL, limit: Int) throws(StrataError) -> Data {
        let path = url.path
        // Opening a pipe would wait for its other end.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure("\(path) cannot be read: \(String(cString: strerror(errno))).", path)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("\(path) cannot be read: it is no plain file.", path)
        }
        do {
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            if data.count <= limit { return data }
        } catch {
            throw failure("\(path) cannot be read.", path, error)
        }
        throw failure("\(path) has more than \(limit) bytes.", path)
    }

    // MARK: Writing

    /// Writes a model as an `.xcdatamodel`, or as a new version of an `.xcdatamodeld` and makes it the current one. The
    /// `.xcdatamodeld` is created if it does not exist.
    ///
    /// The file and the new version appear when they are complete: if they cannot be written, everything is as before.
    ///
    /// - Throws: `invalidModelFile` if the version already exists; errors of the file system.
    public static func write(
        _ model: ManagedObjectModel, to url: URL, versionName: String? = nil
    ) throws {
        let name = url.deletingPathExtension().lastPathComponent
        let contents = try model.xcodeContents()
        if url.pathExtension == versionEnding { return try write(contents, version: url, current: nil) }
        guard url.pathExtension == bundleEnding else {
            throw failure(
                "A model can be written as .\(bundleEnding) or .\(versionEnding), not as \(url.lastPathComponent).",
                url.path)
        }
        let versionName = versionName ?? name
        guard !versionName.isEmpty, !versionName.hasPrefix("."), !versionName.contains(where: { "/\0".contains($0) })
        else {
            throw failure(
                "'\(versionName)' cannot be the name of a model version: it names a file in the bundle.", url.path)
        }
        let version = "\(versionName).\(versionEnding)"
        try write(contents, version: url.appending(component: version), current: url)
    }

    /// - Parameter bundle: the bundle whose current version it becomes.
    private static func write(_ contents: Data, version url: URL, current bundle: URL?) throws {
        let path = url.path
        if FileManager.default.fileExists(atPath: path) { throw failure("\(path) already exists.", path) }
        var files = NewFiles()
        do {
            try files.makeDirectory(path)
            try files.write(contents, to: url.appending(component: "contents").path)
            if let bundle {
                let text = CurrentVersionFile.text(url.lastPathComponent)
                try files.write(Data(text.utf8), to: bundle.appending(component: currentVersionFile).path)
            }
            try files.finish()
        } catch {
            files.abandon()
            throw error
        }
    }

    /// The property list that names the current version.
    private enum CurrentVersionFile {
        static func name(in data: Data, path: String) throws(StrataError) -> String? {
            do throws(ModelFileError) {
                var limits = XMLReader.Limits()
                limits.allowsDocumentType = true
                let root = try XMLReader.read(Array(data), limits: limits)
                guard root.name == "plist", let list = root.children.first, list.name == "dict" else {
                    throw ModelFileError("the file is not a property list with a dictionary", at: root.location)
                }
                for (key, value) in zip(list.children, list.children.dropFirst())
                where key.name == "key" && key.text == currentVersionKey { return value.text }
                return nil
            } catch {
                throw failure("The file of the current version, \(error)", path, error)
            }
        }

        static func text(_ name: String) -> String {
            let list = XMLElement(
                "plist", [.init("version", "1.0")],
                children: [
                    XMLElement(
                        "dict",
                        children: [XMLElement("key", text: currentVersionKey), XMLElement("string", text: name)])
                ])
            return """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                \(XMLText.of(list))

                """
        }
    }
}
