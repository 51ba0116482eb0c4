import StrataModel

/// Errors of a context that a property could not throw; the next save throws them.
struct UnreportedErrors {
    private(set) var unreported: [StrataError] = []
    /// Whether a fault whose object is gone is no error.
    var toleratesGoneObjects = true

    mutating func keep(_ error: StrataError) { unreported.append(error) }

    /// The newest error, for a caller that can throw it.
    mutating func takeLast() -> StrataError? { unreported.popLast() }

    mutating func takeAll() -> [StrataError] {
        defer { unreported = [] }
        return unreported
    }

    mutating func forget() { unreported = [] }
}
