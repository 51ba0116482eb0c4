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

    /// Whether there is a terminal that understands escape sequences, so that a line on it can be written again.
    static func isRewritable(_ descriptor: Int32) -> Bool {
        isThere(descriptor) && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Goes back to the first column and clears the line.
    static let clearedLine = "\r\u{1B}[K"

    /// Clears the line on the terminal of standard error, if there is one.
    static func clearErrorLine() {
        if isRewritable(STDERR_FILENO) { Output.printErrorPart(clearedLine) }
    }

    /// The least width that help has. The argument parser indents it by 26 columns, and in fewer it prints none, or ends the
    /// process.
    private static let widthOfHelp = 40

    /// Has the argument parser write help wider than the terminal, or what `COLUMNS` says, if that is too narrow for it.
    static func widenHelp() {
        let asked = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        if let columns = asked ?? width, columns < widthOfHelp { setenv("COLUMNS", "\(widthOfHelp)", 1) }
    }

    /// The width of the terminal in columns; nil if standard output is not a terminal.
    static var width: Int? { width(of: STDOUT_FILENO) }

    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isThere(descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
