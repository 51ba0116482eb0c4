public import StrataModel

// Requests made of a model's templates, and fetched properties.

extension FetchRequest {
    /// Makes a request of a template of the model.
    ///
    /// - Parameter values: values for the variables of its predicate, by name without the `$`.
    /// - Throws: `invalidRequest` when a variable has no value; `unknownKey` and `wrongType` for a condition that the
    ///   entity cannot answer.
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

extension ManagedObject {
    /// Fetches the objects of a fetched property of the model. Each call runs its request.
    ///
    /// - Throws: `unknownKey` when the entity has no such property; what the fetch throws.
    public final func fetchedObjects(forKey name: String) throws -> [ManagedObject] {
        guard let context = managedObjectContext else {
            throw StrataError(.deletedObject, "The object is in no context.", context: errorContext(name))
        }
        guard let property = context.binding.model.fetchedProperty(name, ofEntityNamed: entity.name) else {
            throw unknownKey(name)
        }
        let request = try FetchRequest<ManagedObject>(
            property.request,
            substituting: [
                "FETCH_SOURCE": self, "FETCHED_PROPERTY": name, "FETCHED_PROPERTY.name": name,
                "FETCHED_PROPERTY.userInfo": AttributeValue.composite(property.userInfo.mapValues { .string($0) }),
            ])
        return try context.fetch(request)
    }
}
