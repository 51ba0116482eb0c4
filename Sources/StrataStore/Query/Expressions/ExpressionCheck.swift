import StrataModel

/// Refuses expressions that no object of an entity could be evaluated for.
struct ExpressionCheck {
    private let entity: EntitySchema
    private let schema: Schema

    init(_ entity: EntitySchema, _ schema: Schema) {
        self.entity = entity
        self.schema = schema
    }

    /// - Throws: `unknownKey`, `invalidRequest`.
    func check(_ expression: FetchExpression) throws(StrataError) {
        if let variable = expression.freeVariables.sorted().first {
            throw StrataError(
                .invalidRequest, "The variable $\(variable) has no value.",
                context: .init(entityName: entity.name, predicate: expression.description))
        }
        var complaint: StrataError?
        expression.forEachExpression { part in
            guard complaint == nil else { return }
            do throws(StrataError) {
                switch part {
                case .keyPath(let path): try check(path)
                case .function(let function, _): try check(function)
                default: break
                }
            } catch {
                complaint = error
            }
        }
        if let complaint { throw complaint }
    }

    private func check(_ function: FetchFunction) throws(StrataError) {
        guard !FetchFunction.predefined.contains(function) else { return }
        throw StrataError(
            .invalidRequest, "There is no function \(function.rawValue).", context: .init(entityName: entity.name))
    }

    /// The part of a path before its first collection operator must lead somewhere, and what follows from there.
    private func check(_ path: String) throws(StrataError) {
        var names: [Substring] = []
        for step in path.split(separator: ".", omittingEmptySubsequences: false) where !step.hasPrefix("@") {
            names.append(step)
        }
        if !names.isEmpty { _ = try ResolvedPath(names.joined(separator: "."), in: entity, schema) }
    }
}
