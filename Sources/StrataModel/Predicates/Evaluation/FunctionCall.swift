import Foundation

/// One call of a function in a predicate, with the values of its arguments.
struct FunctionCall {
    private let function: FetchFunction
    private let arguments: [PredicateOperand]
    private let now: Date

    init(_ function: FetchFunction, _ arguments: [PredicateOperand], now: Date) {
        self.function = function
        self.arguments = arguments
        self.now = now
    }

    /// The value of the call.
    func result() throws(StrataError) -> PredicateOperand {
        if FetchFunction.overLists.contains(function) { return try listResult() }
        if let complaint = function.complaint(aboutArgumentCount: arguments.count) {
            throw StrataError(.invalidRequest, complaint)
        }
        switch function {
        case .now: return .one(.date(now))
        case .random: return .one(.integer(Int64.random(in: 0...Int64(Int32.max))))
        case .noIndex: return arguments[0]
        case .elementAt: return .one(arguments[0].list.element(at: try single(1)))
        case .length where isList(0): return .one(.integer(Int64(arguments[0].list.count)))
        default: break
        }
        if let members = try memberResults() { return .many(members) }
        var values: [AttributeValue] = []
        for index in arguments.indices { values.append(try single(index)) }
        // A function of nil is nil.
        if values.contains(.null) { return .one(.null) }
        if values.count == 2, FetchFunction.infix[function] != nil || function == .modulus {
            if let operation = BitOperation(function) { return .one(try operation.result(values)) }
            return .one(try ValueArithmetic.apply(function, values[0], values[1]))
        }
        if let result = try textResult(values) { return .one(result) }
        switch function {
        case .cast: return .one(ValueCast(typeName: values[1].text ?? "")?.value(of: values[0]) ?? .null)
        case .onesComplement: return .one(.integer(~(try BitOperation.whole(values[0], function))))
        default: break
        }
        if FetchFunction.selectors[function] != nil { return .one(try SelectorCall(function, values).result()) }
        return .one(try numberResult(values[0]))
    }

    /// The results for each member of the collection among the arguments, as in `ANY items.price * 2 > 10`; nil if no
    /// argument is a collection or the function takes lists.
    private func memberResults() throws(StrataError) -> [AttributeValue]? {
        guard FetchFunction.perMember.contains(function) else { return nil }
        let lists = arguments.indices.filter(isList)
        guard let index = lists.first else { return nil }
        guard lists.count == 1 else {
            throw StrataError(.invalidRequest, "\(function.rawValue) can take one collection, not several.")
        }
        var results: [AttributeValue] = []
        for member in arguments[index].list {
            var single = arguments
            single[index] = .one(member)
            results += try FunctionCall(function, single, now: now).result().members
        }
        return results
    }

    private func isList(_ index: Int) -> Bool { if case .many = arguments[index] { true } else { false } }

    private func single(_ index: Int) throws(StrataError) -> AttributeValue {
        guard case .one(let value) = arguments[index] else {
            throw StrataError(.invalidRequest, "\(function.rawValue) takes single values, not lists.")
        }
        return value
    }

    private func listResult() throws(StrataError) -> PredicateOperand {
        let values = arguments.flatMap(\.list)
        switch function {
        case .sum: return .one(try ValueArithmetic.sum(values).total)
        case .count: return .one(.integer(Int64(values.count)))
        case .min: return .one(ValueArithmetic.extreme(values, .ascending))
        case .max: return .one(ValueArithmetic.extreme(values, .descending))
        case .average: return .one(try ValueArithmetic.sum(values).mean)
        case .median: return .one(try ValueArithmetic.median(values))
        case .mode: return .many(ValueArithmetic.mode(values))
        default: return .one(try ValueArithmetic.standardDeviation(values))
        }
    }

    private func textResult(_ values: [AttributeValue]) throws(StrataError) -> AttributeValue? {
        guard [.uppercase, .lowercase, .canonical, .length].contains(function) else { return nil }
        guard let text = values[0].text else {
            throw StrataError(.wrongType, "\(function.rawValue) needs text, not \(values[0].kindName).")
        }
        return switch function {
        case .uppercase: .string(text.uppercased())
        case .lowercase: .string(text.lowercased())
        case .canonical: .string(TextFolding.fold(text, [.caseInsensitive, .diacriticInsensitive]))
        default: .integer(Int64(text.count))
        }
    }

    private func numberResult(_ value: AttributeValue) throws(StrataError) -> AttributeValue {
        let number = try ValueArithmetic.number(value, for: function)
        switch function {
        case .squareRoot: return ValueArithmetic.value(number.asDouble.squareRoot())
        case .logarithm: return ValueArithmetic.value(log10(number.asDouble))
        case .naturalLogarithm: return ValueArithmetic.value(log(number.asDouble))
        case .exponential: return ValueArithmetic.value(exp(number.asDouble))
        case .randomBelow:
            guard case .whole(let limit) = number, limit > 0 else { return .null }
            return .integer(Int64.random(in: 0..<limit))
        case .floor: return rounded(number, .down, .down)
        case .ceiling: return rounded(number, .up, .up)
        case .truncate: return rounded(number, .towardZero, number.asDouble < 0 ? .up : .down)
        case .absolute: return absolute(number)
        default: throw StrataError(.invalidRequest, function.refusal)
        }
    }

    private func rounded(
        _ number: ValueArithmetic.Number, _ rule: FloatingPointRoundingRule, _ mode: Decimal.RoundingMode
    ) -> AttributeValue {
        switch number {
        case .whole(let value): return .integer(value)
        case .double(let value): return ValueArithmetic.value(value.rounded(rule))
        case .decimal(let value):
            var source = value
            var result = Decimal()
            NSDecimalRound(&result, &source, 0, mode)
            return ValueArithmetic.value(result)
        }
    }

    private func absolute(_ number: ValueArithmetic.Number) -> AttributeValue {
        switch number {
        case .whole(.min): .double(0x1p63)
        case .whole(let value): .integer(abs(value))
        case .double(let value): ValueArithmetic.value(abs(value))
        case .decimal(let value): ValueArithmetic.value(value < 0 ? -value : value)
        }
    }
}

/// An operator on the bits of whole numbers.
struct BitOperation {
    private let function: FetchFunction

    /// nil if the function is not such an operator.
    init?(_ function: FetchFunction) {
        guard [.bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift].contains(function) else { return nil }
        self.function = function
    }

    func result(_ values: [AttributeValue]) throws(StrataError) -> AttributeValue {
        let left = try Self.whole(values[0], function), right = try Self.whole(values[1], function)
        return switch function {
        case .bitwiseAnd: .integer(left & right)
        case .bitwiseOr: .integer(left | right)
        case .bitwiseXor: .integer(left ^ right)
        case .leftShift: .integer(left << right)
        default: .integer(left >> right)
        }
    }

    static func whole(_ value: AttributeValue, _ function: FetchFunction) throws(StrataError) -> Int64 {
        guard case .integer(let whole)? = value.coerced(to: .integer64) else {
            throw StrataError(.wrongType, "\(function.rawValue) needs whole numbers, not \(value.kindName).")
        }
        return whole
    }
}

extension FetchFunction {
    /// The result of the function for a single value.
    package func result(of value: AttributeValue) throws(StrataError) -> AttributeValue {
        guard case .one(let result) = try FunctionCall(self, [.one(value)], now: .distantPast).result() else {
            throw StrataError(.invalidRequest, "\(rawValue) gives a list; a single value is needed here.")
        }
        return result
    }
}
