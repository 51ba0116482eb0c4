/// Reads CSV (RFC 4180) with any line ends; the first line names the columns. An empty field without quotes is nil. Empty
/// lines are skipped, except in a file of one column, where they are records.
struct CSVRecordReader: RecordReader {
    private let source: ByteSource
    private let separator: UInt8
    private var line = 1
    /// The names in the first line; an empty one names a column that is left out.
    private var columns: [String] = []
    private var names: [String] = []
    private static let mostColumns = 65_536

    init(_ source: ByteSource, separator: UInt8) throws {
        self.source = source
        self.separator = separator
        let heading = try fields(keeping: Self.mostColumns)
        guard heading?.count ?? 0 <= Self.mostColumns else {
            throw InputError("line 1: The heading has more than \(Self.mostColumns) columns.")
        }
        columns = heading?.kept.map { $0?.text ?? "" } ?? []
        names = columns.filter { !$0.isEmpty }
        var seen: Set<String> = []
        if let twice = names.first(where: { !seen.insert($0).inserted }) {
            throw InputError("line 1: Two columns have the name '\(ValueText.harmless(twice))'.")
        }
    }

    var keys: [String]? { columns.isEmpty ? nil : names }

    /// Tells of `--separator` if the heading is one name that has another separator in it.
    var hint: String {
        guard columns.count == 1, let name = columns.first,
            let other = [";", "\t", "|", ","].first(where: { name.contains($0) })
        else { return "" }
        return " The heading has one column: --separator \(other == "\t" ? "tab" : "'\(other)'") may be missing."
    }

    mutating func next() throws -> InputRecord? {
        while true {
            let start = line
            guard let (fields, count) = try fields(keeping: columns.count) else { return nil }
            if count == 1, fields.first == .some(nil), columns.count != 1 { continue }
            guard count == columns.count else {
                throw InputError(
                    "line \(start): It has \(ValueText.count(count, "field")), the heading has \(columns.count).")
            }
            let values =
                names.count == columns.count ? fields : zip(columns, fields).filter { !$0.0.isEmpty }.map(\.1)
            return InputRecord(keys: names, values: values, location: .line(start))
        }
    }

    /// The fields of the next line, at most `limit` of them, and their number; nil at the end.
    private mutating func fields(keeping limit: Int) throws -> (kept: [InputValue?], count: Int)? {
        guard try source.peek() != nil else { return nil }
        source.beginRecord()
        let start = line
        do {
            var fields: [InputValue?] = []
            fields.reserveCapacity(columns.count)
            var count = 0
            while true {
                let field = try field()
                count += 1
                if count <= limit { fields.append(field) }
                try source.checkRecord()
                guard let byte = try source.next() else { return (fields, count) }
                if byte == separator { continue }
                if byte == 0x0D, try source.peek() == 0x0A { _ = try source.next() }
                line += 1
                return (fields, count)
            }
        } catch let error as ByteSource.RecordTooLong {
            throw error.error("line \(start)")
        }
    }

    /// Reads a field up to the separator or line end, which is not consumed; nil if it is empty and without quotes.
    private mutating func field() throws -> InputValue? {
        let isQuoted = try source.peek() == 0x22
        if !isQuoted, let text = source.plainText(before: separator) { return text.isEmpty ? nil : .text(text) }
        var bytes: [UInt8] = []
        if isQuoted {
            let start = line
            _ = try source.next()
            try quoted(into: &bytes, from: start)
        }
        let separator = separator
        func ends(_ byte: UInt8) -> Bool { byte == separator || byte == 0x0A || byte == 0x0D }
        if isQuoted {
            if let byte = try source.peek(), !ends(byte) {
                throw InputError("line \(line): There is text after a closing quote.")
            }
        } else {
            try source.collect(into: &bytes, until: ends)
        }
        guard isQuoted || !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InputError("line \(line): It is not UTF-8.")
        }
        return .text(text)
    }

    private mutating func quoted(into bytes: inout [UInt8], from start: Int) throws {
        while try source.peek() != nil {
            var lines = 0
            try source.collect(into: &bytes) { byte in
                if byte == 0x0A { lines += 1 }
                return byte == 0x22
            }
            line += lines
            guard try source.next() != nil else { break }
            guard try source.peek() == 0x22 else { return }
            bytes.append(0x22)
            _ = try source.next()
        }
        throw InputError("line \(start): A quote is not closed.")
    }
}
