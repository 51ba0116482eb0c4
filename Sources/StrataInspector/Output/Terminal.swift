import Foundation

/// Whether outputs are terminals, and how wide; what the environment says about colours.
enum Terminal {
    /// Whether to print colours: on a terminal unless `NO_COLOR` is set, and anywhere if `CLICOLOR_FORCE` is set and not 0.
    static func isColoured(_ environment: [String: String], isTerminal: Bool) -> Bool {
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        if environment["CLICOLOR_FORCE"].map({ !$0.isEmpty && $0 != "0" }) ?? false { return true }
        return isTerminal && environment["TERM"] != "dumb"
    }

    static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The width of the terminal in columns; nil if standard output is not a terminal.
    static var width: Int? {
        var size = winsize()
        guard isThere(STDOUT_FILENO), ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}
