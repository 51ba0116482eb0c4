import Foundation

/// What the outputs of the program lead to, and what its environment says of that.
enum Terminal {
    /// Whether colours are printed: on a terminal, where `NO_COLOR` is not set, or where `CLICOLOR_FORCE` is (which
    /// is not 0).
    static func isColoured(_ environment: [String: String], isTerminal: Bool) -> Bool {
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        if environment["CLICOLOR_FORCE"].map({ !$0.isEmpty && $0 != "0" }) ?? false { return true }
        return isTerminal && environment["TERM"] != "dumb"
    }

    static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Columns of the terminal; nil when standard output is none.
    static var width: Int? {
        var size = winsize()
        guard isThere(STDOUT_FILENO), ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}
