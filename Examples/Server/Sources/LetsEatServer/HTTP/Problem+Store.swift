import HTTPTypes
import Strata

extension HTTPResponse.Status {
    fileprivate static let fullDisk = Self(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Problem {
    /// What an error of the store is to a client. Of errors that are none of its business it learns no more than that.
    init(_ error: StrataError) {
        let status = Self.status(of: error)
        if status.kind == .serverError {
            self.init(status, Self.sorry(status), remedy: "Send the same request again in a second.")
            if status == .serviceUnavailable { headers[.retryAfter] = "1" }
        } else {
            self.init(status, error.errorDescription ?? error.message, remedy: Self.remedy(for: error, status))
        }
        code = error.code.rawValue
        let failures = error.details.isEmpty ? [error] : error.details
        if status == .unprocessableContent {
            fields = failures.compactMap { failure in
                failure.context.key.map { Field(name: $0, message: failure.errorDescription ?? failure.message) }
            }
        }
        let properties = error.context.conflicts.flatMap(\.properties)
        if !properties.isEmpty {
            conflicts = properties.map {
                Conflict(
                    name: $0.name, base: JSONValue($0.base), theirs: JSONValue($0.theirs), mine: JSONValue($0.mine))
            }
        }
    }

    private static func status(of error: StrataError) -> HTTPResponse.Status {
        switch error.code {
        case .validationInvalidURI: .notFound
        case let code where (1550...1690).contains(code.rawValue): .unprocessableContent
        case .merge, .constraintMerge: .conflict
        case .persistentStoreSaveConflicts: .preconditionFailed
        case .referentialIntegrity, .deletedObject: .notFound
        case .historyDropped: .gone
        case .invalidRequest, .unknownKey, .unknownEntity, .wrongType, .keyTooLong, .futureEvent, .budgetExceeded:
            .badRequest
        case .saveTooLarge: .contentTooLarge
        case .persistentStoreTimeout, .storeClosed, .inDoubt: .serviceUnavailable
        case .noSpace: .fullDisk
        default: .internalServerError
        }
    }

    private static func sorry(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .serviceUnavailable: "The service is busy or about to end."
        case .fullDisk: "The disk of the service is full."
        default: "The service failed."
        }
    }

    private static func remedy(for error: StrataError, _ status: HTTPResponse.Status) -> String {
        switch status {
        case .unprocessableContent: "Correct the fields that are named, and send the request again."
        case .conflict: "Decide for each conflict, and send the change again with the newest revision as its base."
        case .preconditionFailed: "Read the review again, and send the change with its new ETag."
        case .notFound: "Look for it in the list of its restaurant; it may have been deleted."
        case .gone: "Begin with the present state; the history does not go back that far."
        case .contentTooLarge: "Send it in parts."
        default: error.code == .budgetExceeded ? "Ask for less at once." : "Correct the request."
        }
    }
}
