import Foundation
import StrataGraph
import StrataModel

/// Files with the keys of encrypted attributes.
enum KeyFiles {
    static let variable = "STRATA_KEY_FILE"

    /// Reads the files when the store asks for its keys, the newest first; nil if neither options nor the variable name
    /// one.
    static func keys(of given: [String]) -> (@Sendable () throws -> [Data])? {
        let paths = paths(given)
        if paths.isEmpty { return nil }
        return { try paths.map(read) }
    }

    /// The files that options name, or else the variable.
    static func paths(_ given: [String]) -> [String] {
        let named = ProcessInfo.processInfo.environment[variable].map { [$0] } ?? []
        return given.isEmpty ? named : given
    }

    /// The directory that an option names, or else the variable `STRATA_SUBJECT_KEYS`; nil if neither names one.
    ///
    /// - Throws: `persistentStoreOpen` if it is not there.
    static func subjectKeys(_ given: String?) throws -> SubjectKeyDirectory? {
        guard let path = given ?? ProcessInfo.processInfo.environment["STRATA_SUBJECT_KEYS"] else { return nil }
        guard FileManager.default.fileExists(atPath: path) else {
            throw StrataError(
                .persistentStoreOpen, "There is no directory of keys at \(path); make it first, empty.",
                context: .init(path: path))
        }
        return try SubjectKeyDirectory(at: URL(filePath: path, directoryHint: .isDirectory))
    }

    /// The key in a file.
    ///
    /// - Throws: `persistentStoreOpen`.
    static func read(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw StrataError(
                .persistentStoreOpen, "The key file \(path) cannot be read.", context: .init(path: path), cause: error)
        }
    }
}
