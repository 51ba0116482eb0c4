import StrataModel

// The types of expressions, for the check of predicates.

extension PredicateCheck {
    /// The type of the expression.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `invalidRequest`.
    func type(of expression: FetchExpression) throws(StrataError) -> ExpressionType {
        switch expression {
        case .constant(let value): return ExpressionType(value, schema)
        case .evaluatedObject: return .object(entity)
        case .keyPath(let path):
            // Other names are refused where the columns are read.
            if let columns { return columns[path] ?? .unknown }
            return try follow(path, from: .object(entity))
        case .keyPathOf(let base, let path): return try follow(path, from: try type(of: base))
        case .variable(let name):
            guard let type = variables[name] else {
                throw refusal(.invalidRequest, "The variable $\(name) has no value.")
            }
            return type
        case .aggregate(let parts): return .list(try common(parts))
        case .conditional(let condition, let first, let second):
            try check(condition)
            return try common([first, second], keepsLists: true)
        case .subquery(let collection, let variable, let condition):
            let list = try type(of: collection)
            try checkList(list, collection, for: "SUBQUERY")
            var inner = self
            inner.variables[variable] = list.member
            try inner.check(condition)
            return .list(list.member)
        case .set(let operation, let left, let right):
            let (first, second) = (try type(of: left), try type(of: right))
            try checkList(first, left, for: operation.rawValue)
            try checkList(second, right, for: operation.rawValue)
            return .list(first.member)
        case .element(let list, let index): return try element(of: list, at: index)
        case .function(.fetch, let arguments): return try fetched(arguments)
        case .function(let function, let arguments): return try result(of: function, arguments)
        }
    }

    /// Checks the request of a `FETCH` like any other.
    private func fetched(_ arguments: [FetchExpression]) throws(StrataError) -> ExpressionType {
        let (request, countOnly) = try FetchFunction.nestedFetch(arguments)
        guard let entity = schema.entity(named: request.entityName) else {
            throw schema.unknownEntity(request.entityName)
        }
        _ = try CompiledQuery(StoreRequest(request, entity), schema)
        return countOnly ? .value(.integer) : .list(.object(entity))
    }

    /// The type that all parts have; unknown if they differ.
    private func common(_ parts: [FetchExpression], keepsLists: Bool = false) throws(StrataError) -> ExpressionType {
        var common: ExpressionType?
        for part in parts {
            let type = try type(of: part)
            let next = keepsLists ? type : type.member
            if case .null = next { continue }
            guard let seen = common else {
                common = next
                continue
            }
            let isSame = seen.isList == next.isList && seen.member.compared == next.member.compared
            if !isSame || seen.member.compared == nil {
                common = seen.canBeNumber && next.canBeNumber && seen.compared != nil ? .number : .unknown
            }
        }
        return common ?? .unknown
    }

    private func checkList(
        _ type: ExpressionType, _ expression: FetchExpression, for word: String
    ) throws(StrataError) {
        switch type {
        case .list, .unknown: break
        default: throw refusal(.wrongType, "\(word) needs a collection; \(expression) is \(type.name).")
        }
    }

    private func element(
        of list: FetchExpression, at index: FetchExpression.ElementIndex
    ) throws(StrataError) -> ExpressionType {
        let type = try type(of: list)
        switch index {
        case .size: return .value(.integer)
        case .first, .last: return type.member
        case .at(let index):
            let indexType = try self.type(of: index)
            guard !indexType.isList, indexType.canBeNumber || indexType.canBeText else {
                throw refusal(.wrongType, "\(index) is \(indexType.name), which is no index of a list.")
            }
            if indexType.compared?.isText ?? false { return .unknown }
            return type.member
        }
    }

    // MARK: Key paths

    /// Follows a key path. Names before a collection operator are bound first; an operator applies to the names after
    /// it.
    private func follow(_ path: String, from start: ExpressionType) throws(StrataError) -> ExpressionType {
        var type = start
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        try PredicateLimits.check(steps: steps.count, of: path)
        if let variable = steps.first(where: { $0.hasPrefix("$") }) {
            throw refusal(.invalidRequest, "The variable \(variable) has no value.", key: path)
        }
        while let step = steps.first {
            var names: [String] = []
            if step.hasPrefix("@") { steps.removeFirst() }
            while let next = steps.first, !next.hasPrefix("@") {
                names.append(next)
                steps.removeFirst()
            }
            if !names.isEmpty { type = try follow(names, from: type, path) }
            if step.hasPrefix("@") { type = try apply(step, to: type, path) }
        }
        return type
    }

    private func follow(
        _ names: [String], from type: ExpressionType, _ path: String
    ) throws(StrataError) -> ExpressionType {
        let text = names.joined(separator: ".")
        switch type {
        case .object(let owner) where PredicateCheck.isLengthOfText(text, in: owner, schema):
            let isToMany = try ResolvedPath(String(text.dropLast(".length".count)), in: owner, schema).isToMany
            return isToMany ? .list(.value(.integer)) : .value(.integer)
        case .object(let owner):
            let resolved = try ResolvedPath(text, in: owner, schema)
            let end: ExpressionType =
                if case .object = resolved.end { .object(resolved.entity) } else { .value(ComparedType(resolved.end)) }
            return resolved.isToMany ? .list(end) : end
        case .list(let member):
            return .list(try follow(names, from: member, path).member)
        case .unknown, .null, .value(.composite), .value(.object): return .unknown
        case .value where names == ["self"] || names == ["SELF"]: return type
        case .value(.text) where names == ["length"]: return .value(.integer)
        case .value(let value):
            throw refusal(.unknownKey, "\(value.name) has no property named \(text).", key: path)
        }
    }

    /// Whether a path is the number of characters of a text, `title.length`, and no property of that name.
    static func isLengthOfText(_ path: String, in entity: EntitySchema, _ schema: Schema) -> Bool {
        guard path.hasSuffix(".length"), (try? ResolvedPath(path, in: entity, schema)) == nil,
            let text = try? ResolvedPath(String(path.dropLast(".length".count)), in: entity, schema)
        else { return false }
        return ComparedType(text.end).isText
    }

    private func apply(
        _ step: String, to type: ExpressionType, _ path: String
    ) throws(StrataError) -> ExpressionType {
        guard let collection = CollectionOperator(rawValue: step) else {
            throw refusal(
                .invalidRequest,
                "There is no collection operator \(step)"
                    + NearestName.ending(for: step, among: CollectionOperator.allCases.map(\.rawValue)), key: path)
        }
        try checkList(type, .keyPath(path), for: step)
        switch collection {
        case .count: return .value(.integer)
        case .sum, .average:
            guard type.member.canBeNumber else {
                throw refusal(.wrongType, "\(step) needs numbers; \(path) leads to \(type.member.name).", key: path)
            }
            return type.member.compared == .decimal ? .value(.decimal) : .number
        case .minimum, .maximum: return type.member
        default: return .list(type.member)
        }
    }

    // MARK: Functions

    private func result(
        of function: FetchFunction, _ arguments: [FetchExpression]
    ) throws(StrataError) -> ExpressionType {
        if let complaint = function.complaint(aboutArgumentCount: arguments.count) {
            throw refusal(.invalidRequest, complaint)
        }
        var types: [ExpressionType] = []
        for argument in arguments { types.append(try type(of: argument)) }
        let lists = types.filter(\.isList)
        if FetchFunction.perMember.contains(function), !lists.isEmpty {
            guard lists.count == 1 else {
                throw refusal(.invalidRequest, "\(function.rawValue) takes one collection, not several.")
            }
            return .list(try result(of: function, arguments, types.map(\.member)))
        }
        return try result(of: function, arguments, types)
    }

    private func result(
        of function: FetchFunction, _ arguments: [FetchExpression], _ types: [ExpressionType]
    ) throws(StrataError) -> ExpressionType {
        switch function {
        case .count, .random, .randomBelow: return .value(.integer)
        case .min, .max: return types.count == 1 ? types[0].member : try common(arguments)
        case .mode: return .list(types[0].member)
        case .now: return .value(.date)
        case .noIndex: return types[0]
        case .elementAt: return types[0].member
        case .length where types[0].isList: return .value(.integer)
        case .cast: return cast(arguments[1])
        case .uppercase, .lowercase, .canonical, .length:
            try checkText(types[0], arguments[0])
            return .value(function == .length ? .integer : .text)
        default: break
        }
        if function == .matchesText {
            try checkSearched(arguments[0], types[0])
            if case .constant(.string(let words)) = arguments[1] {
                let query = try FullTextQuery(words)
                if case .keyPath(let path) = arguments[0] { try query.checkNames(in: path) }
            }
            return .value(.boolean)
        }
        if FetchFunction.selectors[function] != nil { return .unknown }
        return try number(function, zip(arguments, types))
    }

    /// Checks that a text query can be asked of an expression.
    private func checkSearched(_ searched: FetchExpression, _ type: ExpressionType) throws(StrataError) {
        if type.canBeText { return }
        if searched == .evaluatedObject {
            throw refusal(
                .invalidRequest,
                "matchesText: takes SELF in the condition of a request only; here it takes a string.")
        }
        if type.compared == .encrypted {
            throw refusal(
                .invalidRequest,
                "\(searched) is encrypted, so the store cannot search its words; decrypted values can be searched with "
                    + "FullTextQuery.matches.")
        }
        throw refusal(
            .wrongType, "\(searched) is \(type.name); matchesText: searches strings, or SELF for the whole full text.")
    }

    private func cast(_ type: FetchExpression) -> ExpressionType {
        guard case .constant(.string(let name)) = type else { return .unknown }
        return switch ValueCast(typeName: name) {
        case .string: .value(.text)
        case .number, .double, .float, .decimal: .number
        case .wholeNumber: .value(.integer)
        case .boolean: .value(.boolean)
        case .date: .value(.date)
        case .uuid: .value(.uuid)
        case .url: .value(.url)
        case .data, .blob: .value(.data)
        case .objectID: .value(.object)
        case nil: .unknown
        }
    }

    /// The type of arithmetic: numbers, and sums and differences with dates.
    private func number(
        _ function: FetchFunction, _ arguments: some Sequence<(FetchExpression, ExpressionType)>
    ) throws(StrataError) -> ExpressionType {
        let takesDates = function == .add || function == .subtract
        var dates = 0
        for (argument, type) in arguments {
            let type = FetchFunction.overLists.contains(function) ? type.member : type
            if takesDates, case .value(.date) = type {
                dates += 1
                continue
            }
            guard type.canBeNumber else {
                let written = FetchFunction.infix[function] ?? function.rawValue
                throw refusal(.wrongType, "\(written) needs numbers; \(argument) is \(type.name).")
            }
        }
        // The difference of two dates is a number of seconds.
        return dates == 1 ? .value(.date) : .number
    }
}
