public import StrataModel
import StrataStore

/// The results of a request, read batch by batch as they are accessed.
///
/// It has the ids of all objects, and the objects of the last four batches, so iterating over a million objects needs
/// memory for a few hundred. The list of objects does not change; their values are those of the context.
///
/// ```swift
/// var request = try FetchRequest<Movie>().sorted(by: \.title)
/// request.fetchBatchSize = 100
/// for movie in try context.fetchInBatches(request) { print(movie.title) }
/// ```
public struct FetchedObjects<Result: ManagedObject>: RandomAccessCollection {
    /// The ids of all the objects, in order.
    public let objectIDs: [ObjectID]
    /// The number of objects that are read together.
    public let batchSize: Int
    private let batches: FetchedBatches

    init(_ objectIDs: [ObjectID], batchSize: Int, prefetching keyPaths: [String], in context: ManagedObjectContext) {
        self.objectIDs = objectIDs
        self.batchSize = batchSize
        batches = FetchedBatches(context, keyPaths)
    }

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { objectIDs.count }

    /// The object at an index. Reads its batch unless it is in memory.
    ///
    /// Errors in reading go to the context's `faultingErrorHandler`, as when a fault fires.
    public subscript(position: Int) -> Result {
        let number = position / batchSize
        let start = number * batchSize
        let object = batches.batch(number, objectIDs[start..<Swift.min(start + batchSize, objectIDs.count)])[
            position - start]
        return ManagedObjectContext.cast(object, to: Result.self)
            .unsafelyUnwrappedAfterCheck("The objects of the request are not \(Result.self).")
    }
}

extension Optional {
    fileprivate func unsafelyUnwrappedAfterCheck(_ sentence: String) -> Wrapped {
        guard let self else { preconditionFailure(sentence) }
        return self
    }
}

/// The batches of fetched objects that are in memory, newest last. Belongs to the isolation of its context.
private final class FetchedBatches {
    private struct Batch {
        let number: Int
        let objects: [ManagedObject]
    }

    private let context: ManagedObjectContext
    private let keyPaths: [String]
    private var batches: [Batch] = []
    /// Enough for two iterations at once.
    private static let kept = 4

    init(_ context: ManagedObjectContext, _ keyPaths: [String]) {
        self.context = context
        self.keyPaths = keyPaths
    }

    func batch(_ number: Int, _ ids: ArraySlice<ObjectID>) -> [ManagedObject] {
        if let last = batches.last, last.number == number { return last.objects }
        if let index = batches.firstIndex(where: { $0.number == number }) {
            let batch = batches.remove(at: index)
            batches.append(batch)
            return batch.objects
        }
        let objects = ids.compactMap(context.registeredOrFault)
        do {
            try context.fill(objects)
            try context.prefetch(keyPaths, of: objects)
        } catch {
            context.report(ManagedObjectContext.typed(error))
        }
        if batches.count == Self.kept { batches.removeFirst() }
        batches.append(Batch(number: number, objects: objects))
        return objects
    }
}

extension ManagedObjectContext {
    /// Fetches the ids of the objects that match. The objects are read in batches of `fetchBatchSize`, 100 by default.
    ///
    /// - Throws: as `fetch(_:)`.
    public func fetchInBatches<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws -> FetchedObjects<Result> {
        let ids = try fetchObjectIDs(request)
        for entity in Set(ids.lazy.map(\.entityID)) {
            guard let runtime = binding.entity(entity), runtime.objectClass is Result.Type else {
                throw wrongClass(request)
            }
        }
        let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : 100
        return FetchedObjects(
            ids, batchSize: size, prefetching: request.relationshipKeyPathsForPrefetching, in: self)
    }

    func wrongClass<Result: ManagedObject>(_ request: FetchRequest<Result>) -> StrataError {
        StrataError(
            .wrongType, "The objects of \(request.entityName) are not \(Result.self).",
            context: .init(entityName: request.entityName))
    }
}
