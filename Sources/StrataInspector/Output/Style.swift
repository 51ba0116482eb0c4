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

    /// The style for standard output.
    static let standard = Style(
        isColoured: Terminal.isColoured(
            ProcessInfo.processInfo.environment, isTerminal: Terminal.isThere(STDOUT_FILENO)))

    func callAsFunction(_ text: String, _ colour: Colour) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
