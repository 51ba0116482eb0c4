import StrataModel

/// The reason why a page cannot be shown, and the place of the problem in the request.
struct StudioProblem: Error, Encodable, Equatable {
    /// The status of HTTP.
    let status: Int
    var message: String
    /// The parameter that is wrong.
    var field: String?
    /// The number of the wrong character in the parameter, from 1.
    var column: Int?
    /// The correct content there.
    var expected: String?
    /// The text for the parameter that may have been meant.
    var suggestion: String?
    /// The transaction that has saved what a request wants to save.
    var transaction: UInt64?
    /// What others have changed, so that a change is refused.
    var conflicts: [StudioConflict]?

    private enum CodingKeys: CodingKey { case message, field, column, expected, suggestion, transaction, conflicts }

    init(_ status: Int, _ message: String, field: String? = nil) {
        self.status = status
        self.message = message
        self.field = field
    }

    /// The client has gone, or stopped the request.
    static let cancelled = StudioProblem(499, "The request was stopped.")

    init(_ error: any Error) {
        switch error {
        case let problem as StudioProblem: self = problem
        case is CancellationError: self = .cancelled
        case let error as UsageError: self.init(400, error.message)
        case let error as AbsentProperty: self.init(400, error.sentence)
        case let error as StrataError:
            let isOfKey = [.encryptionKeyMissing, .encryptionKeyWrong].contains(error.code)
            let hint = isOfKey ? ["Start Studio with --key-file."] : []
            self.init(Self.status(of: error), (error.commandLineTexts + hint).joined(separator: " "))
            if let format = error.cause as? FetchFormatError {
                self = StudioProblem(400, format.sentence)
                column = format.column
                expected = format.expected
            }
        default: self.init(500, "\(error)")
        }
    }

    private static func status(of error: StrataError) -> Int {
        switch error.code {
        case .deletedObject, .futureEvent, .historyDropped: 404
        case .budgetExceeded, .encryptionKeyMissing, .encryptionKeyWrong: 422
        case _ where error.isBadUsage: 400
        default: 500
        }
    }

    /// Runs `body` and reports its errors as problems of a parameter.
    static func of<R>(_ field: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            var problem = StudioProblem(error)
            problem.field = problem.field ?? field
            // The tool names its options.
            if error is UsageError { problem.message.replace("--\(field)", with: field) }
            throw problem
        }
    }
}
