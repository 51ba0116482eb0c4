// Format strings and the evaluator: any text is parsed, or refused with a location in it, in bounded time and depth.
// The text of a parsed predicate is parsed as the same tree. It can be evaluated for any object, or is refused.
//
// The first byte chooses the arguments and the object, the rest is the format string. With the high bit set the string
// is a pattern instead, which is matched with a text.

import Foundation
import StrataModel

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > 1 else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: data + 1, count: size - 1), as: UTF8.self)
    data[0] & 0x80 == 0 ? checkFormat(text, data[0]) : checkPattern(text)
    return 0
}

private func checkFormat(_ format: String, _ choice: UInt8) {
    let predicate: FetchPredicate
    do throws(StrataError) {
        predicate =
            choice & 1 == 0
            ? try FetchPredicate(formatWithPlaceholders: format)
            : try FetchPredicate(
                format: format, "a.b", 5, "text", [1, 2], nil, Date(timeIntervalSinceReferenceDate: 0))
    } catch {
        check(error, format)
        return
    }
    let written = predicate.description
    do throws(StrataError) {
        let again =
            choice & 1 == 0
            ? try FetchPredicate(formatWithPlaceholders: written) : try FetchPredicate(format: written)
        precondition(again == predicate, "read otherwise: \(written)")
        precondition(again.description == written, "written otherwise: \(written)")
    } catch {
        // Writing adds parentheses, which may nest deeper than the parser allows.
        precondition(error.message.contains("nested more than"), "not read again: \(written)\n\(error)")
    }
    evaluate(predicate, choice)
}

private func check(_ error: StrataError, _ format: String) {
    precondition(error.code == .invalidRequest)
    guard let fault = error.cause as? FetchFormatError else { return }
    precondition(fault.column >= 1 && fault.column <= format.count + 1, "column \(fault.column)")
    precondition(fault.description.contains("^"))
}

private func evaluate(_ predicate: FetchPredicate, _ choice: UInt8) {
    let values: [PredicateOperand] = [
        .one(.null), .one("text"), .one(7), .one(.double(0.5)), .many([1, "a", .null]), .many([]),
        .one(.objectID(ObjectID(rawValue: 1 << 48 | 1))), .one(.composite(["a": 1])),
    ]
    let graph = Graph(values: values)
    let variables = ["x": values[Int(choice >> 1 & 7)], "%@": .one(5), "%d": .one(3)]
    for object in values {
        // An error is a valid answer.
        _ = Result { try PredicateEvaluator(graph, object: object, variables: variables).holds(predicate) }
    }
}

/// Every property of every object has a value, chosen by the length of its name.
private struct Graph: ExpressionContext {
    let values: [PredicateOperand]
    let now = Date(timeIntervalSinceReferenceDate: 0)

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        values[key.utf8.count % values.count]
    }
}

private func checkPattern(_ pattern: String) {
    guard let matcher = try? PatternMatcher(pattern) else { return }
    // An error is a valid answer.
    _ = Result { try matcher.matches(pattern) }
    _ = Result { try matcher.matches(String(repeating: "a", count: 64) + "!") }
}
