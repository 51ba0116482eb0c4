public import StrataModel

// Requests made from a model's templates.

extension PersistentContainer {
    /// Makes a request from the template with a name in the container's model.
    ///
    /// ```swift
    /// let request: FetchRequest<Film> = try container.fetchRequest(
    ///     fromTemplate: "FilmsSince", substituting: ["YEAR": 1975])
    /// ```
    ///
    /// - Throws: `invalidRequest` when there is no such template, or a variable has no value.
    public func fetchRequest<Result: ManagedObject>(
        fromTemplate name: String, substituting values: [String: (any FetchArgument)?] = [:]
    ) throws(StrataError) -> FetchRequest<Result> {
        guard let template = managedObjectModel.fetchRequestTemplates[name] else {
            throw StrataError(
                .invalidRequest,
                "The model has no fetch request template named \(name)"
                    + NearestName.ending(for: name, among: managedObjectModel.fetchRequestTemplates.keys.sorted()))
        }
        return try FetchRequest(template, substituting: values)
    }
}
