import Foundation

// The methods that predicates can call with FUNCTION.

extension FetchFunction {
    /// The methods that a format string can call with `FUNCTION(object, "name", …)`, each with the number of arguments after
    /// the object. All others are rejected: a predicate must not call arbitrary methods.
    package static let selectors: [FetchFunction: Int] = [
        FetchFunction(rawValue: "uppercaseString"): 0, FetchFunction(rawValue: "lowercaseString"): 0,
        FetchFunction(rawValue: "capitalizedString"): 0, FetchFunction(rawValue: "lastPathComponent"): 0,
        FetchFunction(rawValue: "pathExtension"): 0, FetchFunction(rawValue: "substringFromIndex:"): 1,
        FetchFunction(rawValue: "substringToIndex:"): 1, FetchFunction(rawValue: "stringByAppendingString:"): 1,
        FetchFunction(rawValue: "stringByReplacingOccurrencesOfString:withString:"): 2,
        FetchFunction(rawValue: "dateByAddingTimeInterval:"): 1, FetchFunction(rawValue: "timeIntervalSinceDate:"): 1,
        FetchFunction(rawValue: "timeIntervalSince1970"): 0,
        FetchFunction(rawValue: "timeIntervalSinceReferenceDate"): 0, .matchesText: 1,
    ]

    /// The message for a function that cannot be evaluated.
    var refusal: String {
        self == .distance
            ? "\(rawValue) takes locations, which attributes cannot hold."
            : "A predicate cannot call the function \(rawValue)."
    }

    /// The message if the function cannot be called with this number of arguments, or at all; else nil.
    package func complaint(aboutArgumentCount count: Int) -> String? {
        if let more = Self.selectors[self] {
            return count == more + 1 ? nil : "FUNCTION with \(rawValue) takes \(more) arguments after the object."
        }
        guard Self.predefined.contains(self) else { return refusal }
        if Self.overLists.contains(self) { return count > 0 ? nil : "\(rawValue) needs a list, or at least one value." }
        return count == argumentCount
            ? nil : "\(rawValue) takes \(CountText.of(argumentCount, "argument")), not \(count)."
    }
}

/// A call of one of the methods in `FetchFunction.selectors`.
struct SelectorCall {
    /// In bytes. Without a limit, nested calls could make text of any length.
    private static let longestText = 1 << 24

    private let name: String
    private let values: [AttributeValue]

    init(_ function: FetchFunction, _ values: [AttributeValue]) {
        name = function.rawValue
        self.values = values
    }

    func result() throws(StrataError) -> AttributeValue {
        if case .date(let date) = values[0] { return try dateResult(date) }
        guard let text = values[0].text else { throw wrongType() }
        switch name {
        case FetchFunction.matchesText.rawValue:
            return .boolean(try FullTextQuery(try string(1)).matches(text))
        case "uppercaseString": return .string(text.uppercased())
        case "lowercaseString": return .string(text.lowercased())
        case "capitalizedString": return .string(text.capitalized)
        case "lastPathComponent": return .string((text as NSString).lastPathComponent)
        case "pathExtension": return .string((text as NSString).pathExtension)
        case "substringFromIndex:": return .string(String(text.dropFirst(try count(1))))
        case "substringToIndex:": return .string(String(text.prefix(try count(1))))
        case "stringByAppendingString:": return try bounded(text.utf8.count, try string(1).utf8.count) { text + $0[1] }
        case "stringByReplacingOccurrencesOfString:withString:":
            let found = try string(1), replacement = try string(2)
            return try bounded(text.utf8.count, text.utf8.count / max(1, found.utf8.count) * replacement.utf8.count) {
                _ in
                found.isEmpty ? text : text.replacing(found, with: replacement)
            }
        default: throw wrongType()
        }
    }

    private func dateResult(_ date: Date) throws(StrataError) -> AttributeValue {
        switch name {
        case "timeIntervalSince1970": return .double(date.timeIntervalSince1970)
        case "timeIntervalSinceReferenceDate": return .double(date.timeIntervalSinceReferenceDate)
        case "timeIntervalSinceDate:":
            guard case .date(let other) = values[1] else { throw wrongType() }
            return .double(date.timeIntervalSince(other))
        case "dateByAddingTimeInterval:":
            guard case .double(let seconds)? = values[1].coerced(to: .double) else { throw wrongType() }
            return .date(date.addingTimeInterval(seconds))
        default: throw wrongType()
        }
    }

    private func bounded(_ size: Int, _ more: Int, _ make: ([String]) -> String) throws(StrataError) -> AttributeValue {
        guard size + more <= Self.longestText else {
            throw StrataError(
                .invalidRequest, "\(name) gives text of more than \(Self.longestText) bytes, which is the limit.")
        }
        return .string(make(values.map { $0.text ?? "" }))
    }

    private func string(_ index: Int) throws(StrataError) -> String {
        guard let text = values[index].text else { throw wrongType() }
        return text
    }

    private func count(_ index: Int) throws(StrataError) -> Int {
        guard case .integer(let number)? = values[index].coerced(to: .integer64), number >= 0 else { throw wrongType() }
        return Int(number)
    }

    private func wrongType() -> StrataError {
        StrataError(
            .wrongType, "\(name) cannot be called with \(values.map(\.kindName).joined(separator: " and ")).")
    }
}
