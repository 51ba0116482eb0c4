import StrataModel

/// A line of text that is being typed, with its cursor and the lines before it.
struct EditedLine {
    /// The action of a key.
    enum Key: Equatable {
        case text(Character)
        case left, right, start, end, up, down
        case deleteBackward, deleteForward, deleteWord, deleteToStart, deleteToEnd
        case complete, enter, cancel, endOfInput
    }

    private(set) var text: [Character] = []
    private(set) var cursor = 0
    private let history: [String]
    /// The line of the history that is shown; its count for the new line.
    private var position: Int
    /// The new line, while a line of the history is shown.
    private var draft: [Character] = []

    init(history: [String]) {
        self.history = history
        position = history.count
    }

    /// The text up to the cursor.
    var beforeCursor: String { String(text[..<cursor]) }

    mutating func press(_ key: Key) {
        switch key {
        case .text(let character): insert([character])
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .start: cursor = 0
        case .end: cursor = text.count
        case .up: show(position - 1)
        case .down: show(position + 1)
        case .deleteBackward: delete(from: cursor - 1, to: cursor)
        case .deleteForward: delete(from: cursor, to: cursor + 1)
        case .deleteWord:
            let spaces = text[..<cursor].reversed().prefix { $0.isWhitespace }.count
            let word = text[..<(cursor - spaces)].reversed().prefix { !$0.isWhitespace }.count
            delete(from: cursor - spaces - word, to: cursor)
        case .deleteToStart: delete(from: 0, to: cursor)
        case .deleteToEnd: delete(from: cursor, to: text.count)
        case .complete, .enter, .cancel, .endOfInput: break
        }
    }

    /// Replaces the last characters before the cursor.
    mutating func replace(last count: Int, with replacement: String) {
        delete(from: cursor - count, to: cursor)
        insert(Array(replacement))
    }

    /// A terminal sends a character that consists of several scalars one by one, so what is inserted may become one with
    /// the character before it or after it.
    private mutating func insert(_ characters: [Character]) {
        let first = max(0, cursor - 1), last = min(text.count, cursor + 1)
        let before = String(text[first..<cursor] + characters)
        let joined = Array(before + String(text[cursor..<last]))
        text.replaceSubrange(first..<last, with: joined)
        var length = 0
        let count = joined.prefix { character in
            defer { length += character.utf8.count }
            return length < before.utf8.count
        }.count
        cursor = first + count
    }

    private mutating func delete(from start: Int, to end: Int) {
        guard start >= 0, end <= text.count, start < end else { return }
        text.removeSubrange(start..<end)
        cursor = start
    }

    private mutating func show(_ line: Int) {
        guard (0...history.count).contains(line) else { return }
        if position == history.count { draft = text }
        position = line
        text = line == history.count ? draft : Array(history[line])
        cursor = text.count
    }

    /// The part of the line that fits into some columns of a terminal, with the column of the cursor in it. Control
    /// characters are escaped.
    func shown(in width: Int) -> (text: String, cursor: Int) {
        var start = cursor
        var column = 0
        while start > 0 {
            let before = TextWidth.of(Self.shown(text[start - 1]))
            guard column + before < max(width, 2) else { break }
            column += before
            start -= 1
        }
        var shown = ""
        var left = width
        for character in text[start...] {
            let next = Self.shown(character)
            left -= TextWidth.of(next)
            guard left >= 0 else { break }
            shown += next
        }
        return (shown, column)
    }

    private static func shown(_ character: Character) -> String { ValueText.harmless(String(character)) }
}

extension EditedLine.Key {
    /// Reads a key from the bytes that a terminal sends; nil for one without meaning.
    ///
    /// - Parameter next: the next byte; nil at the end of the input.
    static func read(_ next: () -> UInt8?) -> EditedLine.Key? {
        guard let byte = next() else { return .endOfInput }
        switch byte {
        case 1: return .start
        case 3: return .cancel
        case 4: return .endOfInput
        case 5: return .end
        case 8, 127: return .deleteBackward
        case 9: return .complete
        case 10, 13: return .enter
        case 11: return .deleteToEnd
        case 14: return .down
        case 16: return .up
        case 21: return .deleteToStart
        case 23: return .deleteWord
        case 27: return escaped(next)
        case 0..<32: return nil
        default: return character(byte, next)
        }
    }

    private static func escaped(_ next: () -> UInt8?) -> EditedLine.Key? {
        guard let lead = next(), lead == 0x5B || lead == 0x4F, var byte = next() else { return nil }
        var number = 0
        while (0x30...0x3B).contains(byte) {
            number = number &* 10 &+ Int(byte) - 0x30
            guard let following = next() else { return nil }
            byte = following
        }
        switch (byte, number) {
        case (0x41, _): return .up
        case (0x42, _): return .down
        case (0x43, _): return .right
        case (0x44, _): return .left
        case (0x48, _), (0x7E, 1), (0x7E, 7): return .start
        case (0x46, _), (0x7E, 4), (0x7E, 8): return .end
        case (0x7E, 3): return .deleteForward
        default: return nil
        }
    }

    /// The character that begins with a byte, from UTF-8.
    private static func character(_ byte: UInt8, _ next: () -> UInt8?) -> EditedLine.Key? {
        var bytes = [byte]
        let count = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        while bytes.count < count, let following = next() { bytes.append(following) }
        return String(validating: bytes, as: UTF8.self)?.first.map { .text($0) }
    }
}
