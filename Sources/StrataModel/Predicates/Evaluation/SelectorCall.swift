import Foundation

extension FetchFunction {
    /// Methods that format strings call with `FUNCTION(object, "name", …)`: a closed list, with the number of arguments
    /// behind the object. Others are refused by name, because a predicate must not call what it likes.
    package static let selectors: [FetchFunction: Int] = [
        FetchFunction(rawValue: "uppercaseString"): 0, FetchFunction(rawValue: "lowercaseString"): 0,
        FetchFunction(rawValue: "capitalizedString"): 0, FetchFunction(rawValue: "lastPathComponent"): 0,
        FetchFunction(rawValue: "pathExtension"): 0, FetchFunction(rawValue: "substringFromIndex:"): 1,
        FetchFunction(rawValue: "substringToIndex:"): 1, FetchFunction(rawValue: "stringByAppendingString:"): 1,
        FetchFunction(rawValue: "stringByReplacingOccurrencesOfString:withString:"): 2,
        FetchFunction(rawValue: "dateByAddingTimeInterval:"): 1, FetchFunction(rawValue: "timeIntervalSinceDate:"): 1,
        FetchFunction(rawValue: "timeIntervalSince1970"): 0,
        FetchFunction(rawValue: "timeIntervalSinceReferenceDate"): 0,
    ]

    /// Why the function cannot be evaluated.
    var refusal: String {
        self == .distance
            ? "\(rawValue) needs locations, which attributes cannot hold."
            : "The function \(rawValue) is not one that a predicate may call."
    }

    /// What is wrong with a call with so many arguments, or with any call.
    package func complaint(aboutArgumentCount count: Int) -> String? {
        if let more = Self.selectors[self] {
            return count == more + 1 ? nil : "FUNCTION with \(rawValue) takes \(more) arguments behind the object."
        }
        guard Self.predefined.contains(self) else { return refusal }
        if Self.overLists.contains(self) { return count > 0 ? nil : "\(rawValue) needs a list, or at least one value." }
        return count == argumentCount ? nil : "\(rawValue) takes \(argumentCount) arguments, not \(count)."
    }
}

/// A call of one of `FetchFunction.selectors`.
struct SelectorCall {
    /// So that no nest of calls makes text without bound.
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
            throw StrataError(.invalidRequest, "\(name) makes a text of more than \(Self.longestText) bytes.")
        }
        return .string(make(values.map { $0.text ?? "" }))
    }

    private func string(_ place: Int) throws(StrataError) -> String {
        guard let text = values[place].text else { throw wrongType() }
        return text
    }

    private func count(_ place: Int) throws(StrataError) -> Int {
        guard case .integer(let number)? = values[place].coerced(to: .integer64), number >= 0 else { throw wrongType() }
        return Int(number)
    }

    private func wrongType() -> StrataError {
        StrataError(
            .wrongType, "\(name) cannot be called with \(values.map(\.kindName).joined(separator: ", ")).")
    }
}
