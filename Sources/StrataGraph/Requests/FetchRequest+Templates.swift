public import StrataModel

extension FetchRequest {
    /// Makes a request of a template of the model.
    ///
    /// - Parameter values: what the variables of its predicate stand for, by name without the `$`.
    /// - Throws: `invalidRequest` when a variable has no value; `unknownKey` and `wrongType` for what the entity cannot
    ///   answer.
    public init(
        _ template: FetchRequestTemplate, substituting values: [String: (any FetchArgument)?] = [:]
    ) throws(StrataError) {
        try self.init(
            entityName: template.entityName, where: try template.predicate?.withSubstitutionVariables(values),
            sortedBy: template.sortDescriptors, limit: template.fetchLimit)
        includesSubentities = template.includesSubentities
        includesPendingChanges = template.includesPendingChanges
        includesPropertyValues = template.includesPropertyValues
        returnsObjectsAsFaults = template.returnsObjectsAsFaults
        fetchBatchSize = template.fetchBatchSize
    }
}

extension PersistentContainer {
    /// Makes a request of the model's template with this name.
    ///
    /// ```swift
    /// let request: FetchRequest<Film> = try container.fetchRequest(
    ///     fromTemplate: "FilmsSince", substituting: ["YEAR": 1975])
    /// ```
    ///
    /// - Throws: `invalidRequest` when there is none, or a variable has no value.
    public func fetchRequest<Result: ManagedObject>(
        fromTemplate name: String, substituting values: [String: (any FetchArgument)?] = [:]
    ) throws(StrataError) -> FetchRequest<Result> {
        guard let template = managedObjectModel.fetchRequestTemplates[name] else {
            throw StrataError(.invalidRequest, "The model has no fetch request template named \(name).")
        }
        return try FetchRequest(template, substituting: values)
    }
}

extension ManagedObject {
    /// The objects of a fetched property of the model, fetched anew each time.
    ///
    /// - Throws: `unknownKey` when the entity has no such property; what the fetch throws.
    public final func fetchedObjects(forKey name: String) throws -> [ManagedObject] {
        guard let context = managedObjectContext else {
            throw StrataError(.deletedObject, "The object is in no context.", context: place(name))
        }
        guard let property = context.binding.model.fetchedProperty(name, ofEntityNamed: entity.name) else {
            throw unknownKey(name)
        }
        let request = try FetchRequest<ManagedObject>(
            property.request, substituting: ["FETCH_SOURCE": self, "FETCHED_PROPERTY": name])
        return try context.fetch(request)
    }
}
