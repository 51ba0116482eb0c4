import Foundation

extension Error {
    /// Why a file cannot be used, in the system's words where it gave a number: Foundation's say less, or something else.
    var systemReason: String {
        let error = self as NSError
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        guard cause.domain == NSPOSIXErrorDomain else { return localizedDescription }
        return String(cString: strerror(Int32(cause.code))) + "."
    }
}
