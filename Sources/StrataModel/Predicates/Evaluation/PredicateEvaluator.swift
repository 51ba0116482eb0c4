// The meaning of predicates. Validation uses this evaluator, and the store uses it for conditions that it cannot compile;
// tests compare compiled conditions with it.
//
// A comparison with nil is false, also with `!=`. Only the literal `nil` tests for it, in `== nil`, `!= nil` and among the
// members of `IN`. NOT swaps true and false, so `NOT name == "x"` holds if name is nil. ANY of no members is false, ALL of
// no members is true.
//
// Strings are compared scalar by scalar after `TextFolding`, so canonically equivalent ones are equal. Numbers and Booleans
// are compared by value. A string compared with a UUID or a URL is read as one.
//
// A function of nil is nil, and so is a result that does not exist, such as a division by zero. Functions of lists ignore
// members that are nil.

/// Evaluates predicates and expressions for one object.
package struct PredicateEvaluator<Context: ExpressionContext> {
    let context: Context
    /// The value of `SELF`.
    let object: PredicateOperand
    /// The variables by name: those of the enclosing subqueries, and those given to `init`.
    var variables: [String: PredicateOperand]

    /// An evaluator for one object.
    ///
    /// - Precondition: trees are at most `PredicateLimits.depth` deep, as parsed and checked ones are.
    package init(
        _ context: Context, object: PredicateOperand, variables: [String: PredicateOperand] = [:]
    ) {
        self.context = context
        self.object = object
        self.variables = variables
    }

    /// Whether the predicate holds.
    ///
    /// - Throws: the errors of the context; `invalidRequest` for a predicate without meaning, such as one with an invalid
    ///   pattern, or one that compares a to-many with a single value without ANY or ALL.
    package func holds(_ predicate: FetchPredicate) throws(StrataError) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .not(let part): return try !holds(part)
        case .and(let parts):
            for part in parts where try !holds(part) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part) { return true }
            return false
        case .comparison(let comparison):
            let left = try value(of: comparison.left), right = try value(of: comparison.right)
            var work = 1
            let holds = try ComparisonRule(comparison).holds(left, right, work: &work)
            try context.spend(work, listing: 0)
            return holds
        }
    }

    /// The value of an expression.
    package func value(of expression: FetchExpression) throws(StrataError) -> PredicateOperand {
        try context.spend(1, listing: 0)
        switch expression {
        case .constant(let value): return .one(value)
        case .evaluatedObject: return object
        case .keyPath(let path):
            if let operand = try context.operand(atPath: path) { return operand }
            return try follow(path, from: object)
        case .keyPathOf(let base, let path): return try follow(path, from: try value(of: base))
        case .aggregate(let parts):
            var values: [AttributeValue] = []
            for part in parts {
                values += try value(of: part).members
                try context.spend(0, listing: values.count)
            }
            return .many(values)
        case .variable(let name):
            guard let value = variables[name] else {
                throw StrataError(.invalidRequest, "The variable $\(name) has no value.")
            }
            return value
        case .conditional(let condition, let first, let second):
            return try holds(condition) ? value(of: first) : value(of: second)
        case .subquery(let collection, let variable, let condition):
            return try members(of: collection, variable, condition)
        case .set(let operation, let left, let right):
            let (left, right) = (try value(of: left), try value(of: right))
            try context.spend(left.work + right.work, listing: left.memberCount + right.memberCount)
            return .many(operation.combine(left.list, right.list))
        case .element(let list, let index): return try element(of: try value(of: list), at: index)
        case .function(.fetch, let arguments):
            let (request, countOnly) = try FetchFunction.fetchArguments(arguments)
            let objects = try context.objects(ofFetch: request)
            return countOnly ? .one(.integer(Int64(objects.count))) : .many(objects)
        case .function(let function, let arguments):
            var values: [PredicateOperand] = []
            for argument in arguments {
                let value = try value(of: argument)
                try context.spend(value.work, listing: 0)
                values.append(value)
            }
            let result = try FunctionCall(function, values, now: context.now).result()
            try context.spend(result.work, listing: result.memberCount)
            return result
        }
    }

    private func members(
        of collection: FetchExpression, _ variable: String, _ condition: FetchPredicate
    ) throws(StrataError) -> PredicateOperand {
        var inner = self
        var members: [AttributeValue] = []
        for member in try value(of: collection).list {
            inner.variables[variable] = .one(member)
            if try inner.holds(condition) { members.append(member) }
        }
        return .many(members)
    }

    // MARK: Elements

    private func element(
        of list: PredicateOperand, at index: FetchExpression.ElementIndex
    ) throws(StrataError) -> PredicateOperand {
        switch index {
        case .first: return .one(list.list.first ?? .null)
        case .last: return .one(list.list.last ?? .null)
        case .size: return .one(.integer(Int64(list.list.count)))
        case .at(let index):
            guard case .one(let index) = try value(of: index) else {
                throw StrataError(.invalidRequest, "The index of an element must be a single value, not a list.")
            }
            if case .string(let key) = index { return try follow(key, from: list) }
            return .one(list.list.element(at: index))
        }
    }

    // MARK: Key paths

    private func follow(_ path: String, from start: PredicateOperand) throws(StrataError) -> PredicateOperand {
        var operand = start
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        try PredicateLimits.check(steps: steps.count, of: path)
        while let step = steps.popFirst() {
            guard step.hasPrefix("@") else {
                if steps.last == "@count", !steps.dropLast().contains(where: { $0.hasPrefix("@") }) {
                    if let count = try count([step] + steps.dropLast(), from: operand) { return .one(count) }
                }
                operand = try follow(step: step, from: operand)
                continue
            }
            guard let collection = CollectionOperator(rawValue: step) else {
                throw StrataError(
                    .invalidRequest,
                    "There is no collection operator \(step); operators are @count, @sum, @avg, @min, @max and unions.",
                    context: .init(key: path))
            }
            // The steps up to the next operator are read from each member first.
            while let next = steps.first, !next.hasPrefix("@") {
                steps.removeFirst()
                operand = try follow(step: next, from: operand)
            }
            try context.spend(operand.work, listing: 0)
            operand = try collection.apply(to: operand)
        }
        return operand
    }

    private func follow(step: String, from operand: PredicateOperand) throws(StrataError) -> PredicateOperand {
        switch operand {
        case .one(let value): return try property(step, of: value)
        case .many(let members):
            var values: [AttributeValue] = []
            for member in members {
                values += try property(step, of: member).members
                try context.spend(1, listing: values.count)
            }
            return .many(values)
        }
    }

    /// The number of members behind several steps, each as often as steps lead to it; nil if they lead to a single value.
    ///
    /// Every step reads each object once and counts how often it was met, because the numbers multiply where steps lead
    /// back and forth, as in `owner.items.owner.items.@count`.
    private func count(_ steps: [String], from start: PredicateOperand) throws(StrataError) -> AttributeValue? {
        var objects: [AttributeValue: Int64] = [start.members.first ?? .null: 1]
        var isList = false
        if case .many(let members) = start {
            objects = Dictionary(members.map { ($0, 1) }, uniquingKeysWith: +)
            isList = true
        }
        for step in steps {
            var next: [AttributeValue: Int64] = [:]
            for (object, times) in objects {
                let operand = try property(step, of: object)
                if case .many = operand { isList = true }
                for member in operand.members { next[member] = times.addingSaturated(next[member] ?? 0) }
                try context.spend(1, listing: next.count)
            }
            objects = next
        }
        guard isList else { return nil }
        return .integer(objects.values.reduce(0) { $0.addingSaturated($1) })
    }

    private func property(_ key: String, of value: AttributeValue) throws(StrataError) -> PredicateOperand {
        if key == "SELF" || key == "self" { return .one(value) }
        switch value {
        case .null: return .one(.null)
        case .objectID(let id): return try context.operand(of: key, in: id)
        case .composite(let elements): return .one(elements[key] ?? .null)
        default:
            if key == "length", let length = value.length { return .one(.integer(Int64(length))) }
            throw StrataError(
                .unknownKey, "\(value.kindName) has no property named \(key).", context: .init(key: key))
        }
    }
}

extension Int64 {
    /// The sum of two counts, or the largest number if there is none.
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

extension [AttributeValue] {
    /// The element at an index; `null` if there is none.
    func element(at index: AttributeValue) -> AttributeValue {
        guard case .integer(let number)? = index.coerced(to: .integer64), let position = Int(exactly: number),
            indices.contains(position)
        else { return .null }
        return self[position]
    }
}
