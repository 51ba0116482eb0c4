public import StrataModel
import StrataStore

/// The objects that a request found, made and read a batch at a time as they are looked at.
///
/// It knows the ids of all of them and holds on to the objects of the last batches only, so that a walk over a million
/// takes the memory of a few hundred. Which objects there are, and their order, is settled when it is made; what they
/// hold follows the context.
///
/// ```swift
/// var request = try FetchRequest<Movie>().sorted(by: \.title)
/// request.fetchBatchSize = 100
/// for movie in try context.fetchInBatches(request) { print(movie.title) }
/// ```
public struct FetchedObjects<Result: ManagedObject>: RandomAccessCollection {
    /// The ids of all the objects, in order.
    public let objectIDs: [ObjectID]
    /// How many objects are read at once.
    public let batchSize: Int
    private let batches: FetchedBatches

    init(_ objectIDs: [ObjectID], batchSize: Int, prefetching keyPaths: [String], in context: ManagedObjectContext) {
        self.objectIDs = objectIDs
        self.batchSize = batchSize
        batches = FetchedBatches(context, keyPaths)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { objectIDs.count }

    /// The object in a place; reads its batch when that is not in memory. Errors in reading go to the context's
    /// `faultingErrorHandler`, as when a fault fires.
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

/// The batches in memory, newest last. Belongs to the isolation of its context.
private final class FetchedBatches {
    private struct Batch {
        let number: Int
        let objects: [ManagedObject]
    }

    private let context: ManagedObjectContext
    private let keyPaths: [String]
    private var batches: [Batch] = []
    /// A walk forwards beside one backwards, and a little looking about, read nothing twice.
    private static let kept = 4

    init(_ context: ManagedObjectContext, _ keyPaths: [String]) {
        self.context = context
        self.keyPaths = keyPaths
    }

    func batch(_ number: Int, _ ids: ArraySlice<ObjectID>) -> [ManagedObject] {
        if let last = batches.last, last.number == number { return last.objects }
        if let place = batches.firstIndex(where: { $0.number == number }) {
            let batch = batches.remove(at: place)
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
    /// The objects that match, `fetchBatchSize` (100 when it is 0) made and read at a time.
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
