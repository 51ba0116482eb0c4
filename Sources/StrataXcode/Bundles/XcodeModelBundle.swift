public import Foundation
public import StrataModel

/// An `.xcdatamodeld` with its versions, or an `.xcdatamodel` by itself.
public struct XcodeModelBundle: Sendable {
    public let url: URL
    /// Names of the versions without their ending, sorted as people number them.
    public let versionNames: [String]
    /// The version that the bundle says is the current one; its only one where it says nothing.
    public let currentVersionName: String?
    /// Why that is not known; whoever names a version need not care.
    private let currentVersionError: StrataError?
    private let versions: [String: URL]

    private static let bundleEnding = "xcdatamodeld"
    private static let versionEnding = "xcdatamodel"
    private static let currentVersionFile = ".xccurrentversion"
    private static let currentVersionKey = "_XCCurrentVersionName"

    /// Looks which versions there are; models are read when they are asked for.
    ///
    /// - Throws: `invalidModelFile`.
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
            throw Self.failure("\(path) is a compiled model; only Xcode's source files are read.", path)
        default:
            throw Self.failure("\(path) is no .\(Self.bundleEnding) and no .\(Self.versionEnding).", path)
        }
        versionNames = versions.keys.sorted {
            $0.compare($1, options: .numeric) == .orderedAscending
        }
    }

    /// Reads a version; the current one when none is named.
    ///
    /// - Throws: `invalidModelFile` when there is none of that name, or with what is wrong with its file.
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
        let contents = version.appending(component: "contents")
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
            throw failure("\(path) names the version \(name), which is not there.", path)
        }
        return plain
    }

    /// - Parameter limit: A longer file is not read into memory.
    private static func data(_ url: URL, limit: Int) throws(StrataError) -> Data {
        let path = url.path
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            if data.count <= limit { return data }
        } catch {
            throw failure("\(path) cannot be read.", path, error)
        }
        throw failure("\(path) has more than \(limit) bytes.", path)
    }

    // MARK: Writing

    /// Writes a model as a version of an `.xcdatamodeld`, which is made if it is not there, and makes it the current one;
    /// or as an `.xcdatamodel` by itself.
    ///
    /// - Throws: `invalidModelFile` when the version is there already, or what the file system says.
    public static func write(
        _ model: ManagedObjectModel, to url: URL, versionName: String? = nil
    ) throws {
        let name = url.deletingPathExtension().lastPathComponent
        let contents = try model.xcodeContents()
        if url.pathExtension == versionEnding { return try write(contents, version: url) }
        guard url.pathExtension == bundleEnding else {
            throw failure("A model is written as .\(bundleEnding) or .\(versionEnding).", url.path)
        }
        let versionName = versionName ?? name
        guard !versionName.isEmpty, !versionName.hasPrefix("."), !versionName.contains(where: { "/\0".contains($0) })
        else {
            throw failure(
                "'\(versionName)' cannot be the name of a model version: it names a file in the bundle.", url.path)
        }
        let version = "\(versionName).\(versionEnding)"
        try write(contents, version: url.appending(component: version))
        try Data(CurrentVersionFile.text(version).utf8).write(
            to: url.appending(component: currentVersionFile), options: .atomic)
    }

    private static func write(_ contents: Data, version url: URL) throws {
        let path = url.path
        if FileManager.default.fileExists(atPath: path) { throw failure("\(path) is there already.", path) }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try contents.write(to: url.appending(component: "contents"), options: .atomic)
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
