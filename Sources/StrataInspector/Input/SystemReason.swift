import Foundation

// Messages for errors of the file system.

extension Error {
    /// The reason why a file cannot be used. Uses the system's message where there is an error number: it says more
    /// than Foundation's.
    var systemReason: String {
        guard let number = systemNumber else { return localizedDescription }
        return String(cString: strerror(number)) + "."
    }

    /// The failure of a command that cannot write a file.
    ///
    /// - Parameter path: the file, as the user names it.
    func ofWriting(_ path: String) -> CommandFailure { CommandFailure("\(path) cannot be written: \(systemReason)") }

    /// Whether a pipe was written that its reader has closed.
    var isOfClosedPipe: Bool { systemNumber == EPIPE }

    /// The system's error number; nil without one.
    private var systemNumber: Int32? {
        let error = self as NSError
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        return cause.domain == NSPOSIXErrorDomain ? Int32(cause.code) : nil
    }
}
