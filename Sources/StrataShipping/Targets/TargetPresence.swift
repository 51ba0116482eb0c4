import StrataModel

/// Distinguishes a target from an empty directory at the same place, such as one where a disk is no longer mounted.
enum TargetPresence {
    /// The file that each target has; see `TargetMark`.
    static let fileName = "strata.target"

    /// Returns the error for a target without that file.
    static func isAway(_ label: String) -> StrataError {
        StrataError(
            .targetUnavailable,
            "The target is not there: it has no file \(fileName), which each shipment leaves.",
            context: .init(path: label))
    }
}
