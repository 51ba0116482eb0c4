/// The location of a record in a file that is imported, for messages: a line, or an element of an array.
enum RecordLocation: CustomStringConvertible {
    case line(Int)
    /// An element of an array, counted from 1, and the line where it begins if that is known.
    case element(Int, line: Int?)

    var description: String {
        switch self {
        case .line(let line): "line \(line)"
        case .element(let number, let line?): "element \(number) (line \(line))"
        case .element(let number, nil): "element \(number)"
        }
    }
}
