import Foundation
import StrataModel
import StrataXcode
import Testing

/// Models of real apps, if `STRATA_CORPUS` names the folder with them.
enum Corpus {
    static let isThere = ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil

    /// All versions in a long run, which `STRATA_SEEDS` turns on. `STRATA_PART=2/4` takes every fourth of them, so that
    /// a run can be split.
    static func sample(_ versions: [Version], oneIn step: Int) -> [Version] {
        let environment = ProcessInfo.processInfo.environment
        guard environment["STRATA_SEEDS"] != nil else {
            return versions.enumerated().filter { $0.offset % step == 0 }.map(\.element)
        }
        let parts = (environment["STRATA_PART"] ?? "1/1").split(separator: "/").compactMap { Int($0) }
        guard parts.count == 2, 1...parts[1] ~= parts[0] else { return versions }
        return versions.enumerated().filter { $0.offset % parts[1] == parts[0] - 1 }.map(\.element)
    }

    struct Version: Sendable, CustomTestStringConvertible {
        let bundle: URL
        let name: String
        let contents: Data

        var testDescription: String { "\(bundle.lastPathComponent)/\(name)" }

        func read() throws -> XcodeModel { try XcodeModelBundle(contentsOf: bundle).model(version: name) }

        /// nil for a model with problems.
        func soundModel() throws -> ManagedObjectModel? {
            do {
                return try read().managedObjectModel()
            } catch let error as StrataError where error.code == .invalidModel {
                return nil
            }
        }
    }

    static let versions: [Version] = {
        guard let folder = ProcessInfo.processInfo.environment["STRATA_CORPUS"] else { return [] }
        let models = URL(filePath: folder, directoryHint: .isDirectory).appending(component: "models")
        var versions: [Version] = []
        let files = FileManager.default.enumerator(at: models, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent == "contents", let contents = try? Data(contentsOf: file) else { continue }
            let version = file.deletingLastPathComponent()
            let parent = version.deletingLastPathComponent()
            versions.append(
                Version(
                    bundle: parent.pathExtension == "xcdatamodeld" ? parent : version,
                    name: version.deletingPathExtension().lastPathComponent, contents: contents))
        }
        return versions.sorted { ($0.bundle.path, $0.name) < ($1.bundle.path, $1.name) }
    }()
}
