import Foundation
import StrataModel

/// Reads lines from standard input: on a terminal with editing, history and completion, elsewhere as they come.
struct LineEditor {
    private let prompt: String
    /// The texts that may stand for the last characters before the cursor, and how many those are.
    private let completions: (String) -> (count: Int, texts: [String])
    private(set) var history: [String]
    private static let mostHistory = 1000

    init(
        prompt: String, history: [String], completions: @escaping (String) -> (count: Int, texts: [String])
    ) {
        self.prompt = prompt
        self.history = history
        self.completions = completions
    }

    /// Whether lines are typed, and not read from a file.
    static var isInteractive: Bool { Terminal.isThere(STDIN_FILENO) && Terminal.isThere(STDOUT_FILENO) }

    /// The next line; nil at the end of the input.
    mutating func line() -> String? {
        guard Self.isInteractive else { return readLine() }
        let line = Terminal.isRewritable(STDERR_FILENO) ? Self.withRawTerminal { typedLine() } : plainLine()
        if let line, !line.allSatisfy(\.isWhitespace), line != history.last {
            history = (history + [line]).suffix(Self.mostHistory)
        }
        return line
    }

    /// The line as a terminal without escape sequences passes it on.
    private func plainLine() -> String? {
        Output.printErrorPart(prompt)
        return readLine()
    }

    private func typedLine() -> String? {
        var line = EditedLine(history: history)
        draw(line)
        while true {
            guard let key = EditedLine.Key.read(Self.byte) else { continue }
            switch key {
            case .enter:
                line.press(.end)
                draw(line)
                Output.printErrorPart("\r\n")
                return String(line.text)
            case .cancel:
                Output.printErrorPart("^C\r\n")
                return ""
            case .endOfInput where line.text.isEmpty:
                Output.printErrorPart("\r\n")
                return nil
            case .endOfInput: line.press(.deleteForward)
            case .complete: complete(&line)
            default: line.press(key)
            }
            draw(line)
        }
    }

    private func complete(_ line: inout EditedLine) {
        let (count, texts) = completions(line.beforeCursor)
        guard let first = texts.first else { return }
        let common = texts.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        if texts.count == 1 || common.count > count { return line.replace(last: count, with: common) }
        Output.printErrorPart("\r\n\(texts.joined(separator: "  "))\r\n")
    }

    private func draw(_ line: EditedLine) {
        let room = (Terminal.width ?? 80) - TextWidth.of(prompt) - 1
        let (text, cursor) = line.shown(in: max(10, room))
        // Back to the first column, the line, the rest cleared, and the cursor to its place.
        let place = TextWidth.of(prompt) + cursor
        Output.printErrorPart("\r\(prompt)\(text)\u{1B}[K\r" + (place > 0 ? "\u{1B}[\(place)C" : ""))
    }

    private static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Runs `body` while the terminal passes on every key.
    private static func withRawTerminal<R>(_ body: () -> R) -> R {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else { return body() }
        var raw = usual
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &usual) }
        return body()
    }
}
