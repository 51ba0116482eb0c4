import Foundation

/// Colours for a terminal; plain text elsewhere.
struct Style {
    enum Colour: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    let isColoured: Bool

    /// For standard output as it is now.
    static let standard: Style = {
        let environment = ProcessInfo.processInfo.environment
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false || environment["TERM"] == "dumb"
        return Style(isColoured: isatty(STDOUT_FILENO) == 1 && !isRefused)
    }()

    func callAsFunction(_ text: String, _ colour: Colour) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Columns of the terminal; nil when standard output is none.
    static var terminalWidth: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}
