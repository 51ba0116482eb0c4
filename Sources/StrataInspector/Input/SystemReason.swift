import Foundation

// Messages for errors of the file system.

extension Error {
    /// Why a file cannot be used. Uses the system's message where there is an error number: it says more than Foundation's.
    var systemReason: String {
        let error = self as NSError
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        guard cause.domain == NSPOSIXErrorDomain else { return localizedDescription }
        return String(cString: strerror(Int32(cause.code))) + "."
    }
}
