import Foundation
import StrataModel

/// Files with the keys of encrypted attributes.
enum KeyFiles {
    static let variable = "STRATA_KEY_FILE"

    /// Reads the files when the store asks for its keys, the newest first; nil if neither options nor the variable name
    /// one.
    static func keys(of paths: [String]) -> (@Sendable () throws -> [Data])? {
        let named = ProcessInfo.processInfo.environment[variable].map { [$0] } ?? []
        let all = paths.isEmpty ? named : paths
        if all.isEmpty { return nil }
        return {
            try all.map { path in
                do {
                    return try Data(contentsOf: URL(filePath: path))
                } catch {
                    throw StrataError(
                        .persistentStoreOpen, "The key file \(path) cannot be read.", context: .init(path: path),
                        cause: error)
                }
            }
        }
    }
}
