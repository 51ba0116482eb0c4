import Foundation

extension StrataError {
    /// Throws the errors that one operation found: a single one as it is, several as the details of one.
    ///
    /// - Parameter count: how many there are, if `errors` are only the first.
    package static func throwTogether(_ errors: [StrataError], count: Int? = nil) throws(StrataError) {
        guard let first = errors.first else { return }
        let count = count ?? errors.count
        if count == 1 { throw first }
        throw StrataError(.validationMultipleErrors, "\(count) validation errors.", details: errors)
    }

    /// Returns the description of an error that the app threw.
    package static func name(of error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    }

    /// The same error, about an object.
    package func about(_ id: ObjectID) -> StrataError {
        var error = self
        error.context.objectID = id
        return error
    }
}
