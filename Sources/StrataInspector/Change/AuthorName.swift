import Foundation
import StrataModel

/// The author that the log records for a command.
enum AuthorName {
    /// The name that an option gives, or the login name; nil if there is neither.
    ///
    /// - Throws: `UsageError` for a text that is no name.
    static func of(_ option: String?) throws -> String? {
        guard let option else {
            let login = NSUserName()
            return login.isEmpty ? nil : login
        }
        guard let complaint = GivenName.complaint(about: option) else { return option }
        throw UsageError("'\(ValueText.harmless(option))' is no name for an author: \(complaint).")
    }
}
