public import StrataModel
import StrataStore

// A batch is written to the store without the objects of the context. Afterwards the context moves to the newest state,
// so that its objects show the changes of the batch. Other contexts are notified as after every save.

extension ManagedObjectContext {
    /// Inserts the rows of the request, one transaction for each step.
    ///
    /// A step is written while the rows of the next one are read and prepared. So if it fails, the handler has already
    /// given rows that are not saved.
    ///
    /// - Throws: validation errors that name the row, counted from 0; `unknownKey`, `wrongType`; `constraintMerge`;
    ///   `referentialIntegrity` for a to-one to an object that does not exist; `readOnly`; `CancellationError` if the
    ///   task that calls it is cancelled; what the store throws when it cannot write, as for `save()`. Steps that were
    ///   saved before stay saved.
    @discardableResult
    public func execute<Object: ManagedObject>(_ request: BatchInsertRequest<Object>) throws -> BatchResult {
        let inserter = try BatchInserter(self, request)
        var result = BatchResult()
        var passed = 0
        var running: BatchInsertStep?
        func finish() throws {
            let step = running
            running = nil
            try step?.finish(request.resultType, into: &result)
        }
        try movingOnAfterwards {
            do {
                // The rows of a step are read and prepared while the step before is written.
                try request.forEachStep { rows in
                    let step = try inserter.step(rows, passed: passed)
                    passed += rows.count
                    try finish()
                    try step.begin()
                    running = step
                }
            } catch {
                // An error of the step before comes first, because its rows do.
                try finish()
                throw error
            }
            try finish()
        }
        return result
    }

    /// Inserts rows as they arrive, one transaction for each step. Waiting for the disk blocks no thread of Swift's
    /// pool.
    ///
    /// ```swift
    /// let result = try await context.execute(BatchInsertRequest<Movie>(onClash: .merge), rows: feed)
    /// ```
    ///
    /// - Throws: `CancellationError` between steps if the task is cancelled, and errors of the sequence. Steps that
    ///   were saved before stay saved.
    @discardableResult
    nonisolated(nonsending) public func execute<Object: ManagedObject, Rows: AsyncSequence>(
        _ request: BatchInsertRequest<Object>, rows: Rows
    ) async throws -> BatchResult where Rows.Element == [String: AttributeValue] {
        try await execute(request, rows: rows) { BatchValues($0) }
    }

    /// Inserts rows as they arrive, which may also name the members of to-manys.
    ///
    /// - Throws: as for rows of values.
    @discardableResult
    nonisolated(nonsending) public func execute<Object: ManagedObject, Rows: AsyncSequence>(
        _ request: BatchInsertRequest<Object>, rows: Rows
    ) async throws -> BatchResult where Rows.Element == BatchRow<Object> {
        try await execute(request, rows: rows) { BatchValues($0) }
    }

    nonisolated(nonsending) private func execute<Object: ManagedObject, Rows: AsyncSequence>(
        _ request: BatchInsertRequest<Object>, rows: Rows, _ values: (Rows.Element) -> BatchValues
    ) async throws -> BatchResult {
        let inserter = try BatchInserter(self, request)
        var result = BatchResult()
        var passed = 0
        var step: [BatchValues] = []
        do {
            for try await row in rows {
                step.append(values(row))
                guard step.count == request.stepSize else { continue }
                try Task.checkCancellation()
                result = try await inserter.insertElsewhere(step, passed: passed, into: result)
                passed += step.count
                step = []
            }
            if !step.isEmpty { result = try await inserter.insertElsewhere(step, passed: passed, into: result) }
        } catch {
            try moveToHead()
            throw error
        }
        try moveToHead()
        return result
    }

    /// Changes the objects that the request finds, one transaction for each step.
    ///
    /// - Throws: validation errors that name the object; `unknownKey`, `wrongType`, `invalidRequest`; `readOnly`; what
    ///   the store throws when it cannot write, as for `save()`. Steps that were saved before stay saved.
    @discardableResult
    public func execute<Object: ManagedObject>(_ request: BatchUpdateRequest<Object>) throws -> BatchResult {
        let writer = try BatchWriter(self)
        let entity = try writer.entity(named: request.entityName)
        try writer.check(stepSize: request.stepSize, entity.name)
        guard !request.propertiesToUpdate.isEmpty else {
            throw StrataError(
                .invalidRequest, "A batch update must set at least one property.",
                context: .init(entityName: entity.name))
        }
        for name in request.propertiesToUpdate.keys where entity.property(named: name) == nil {
            if try entity.compositeElement(at: name) == nil { throw BatchRowMaker(binding, entity).unknown(name) }
        }
        let target = BatchTarget(
            request: StoreRequest(
                entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate),
            objectIDs: nil)
        var result = BatchResult()
        try movingOnAfterwards {
            try writer.forEachStep(target, stepSize: request.stepSize) { ids in
                try writer.update(ids, target, request.propertiesToUpdate, request.resultType, into: &result)
            }
        }
        return result
    }

    /// Deletes the objects that the request finds, with the delete rules of their relationships, one transaction for
    /// each step.
    ///
    /// - Throws: `validationRelationshipDeniedDelete` and other validation errors that name the object; `readOnly`; what
    ///   the store throws when it cannot write, as for `save()`. Steps that were saved before stay saved.
    @discardableResult
    public func execute<Object: ManagedObject>(_ request: BatchDeleteRequest<Object>) throws -> BatchResult {
        let writer = try BatchWriter(self)
        guard let entity = try writer.entity(of: request) else { return BatchResult() }
        try writer.check(stepSize: request.stepSize, entity.name)
        let target = BatchTarget(
            request: StoreRequest(
                entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate),
            objectIDs: request.objectIDs)
        for id in request.objectIDs ?? [] where !entity.schema.entityIDs.contains(id.entityID) {
            throw StrataError(
                .wrongType, "The object is not of the entity.", context: .init(entityName: entity.name, objectID: id))
        }
        var result = BatchResult()
        try movingOnAfterwards {
            try writer.forEachStep(target, stepSize: request.stepSize) { ids in
                try writer.delete(ids, target, request.resultType, into: &result)
            }
        }
        return result
    }

    /// Moves the context to the newest state, also after an error: the first steps may be saved.
    private func movingOnAfterwards(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            try moveToHead()
            throw error
        }
        try moveToHead()
    }
}

/// The state that the steps of one batch insert share.
private struct BatchInserter: Sendable {
    private let writer: BatchWriter
    private let entity: EntityRuntime
    private let policy: UniquenessPolicy
    private let resultType: BatchResultType

    init<Object: ManagedObject>(_ context: ManagedObjectContext, _ request: BatchInsertRequest<Object>) throws {
        writer = try BatchWriter(context)
        entity = try writer.entity(named: request.entityName)
        policy = request.uniquenessPolicy
        resultType = request.resultType
        try writer.check(stepSize: request.stepSize, entity.name)
        try entity.checkIsConcrete()
    }

    func step(_ rows: [BatchValues], passed: Int) throws -> BatchInsertStep {
        try BatchInsertStep(writer, rows, entity, policy, passed: passed)
    }

    func insertElsewhere(
        _ rows: [BatchValues], passed: Int, into result: BatchResult
    ) async throws -> BatchResult {
        try await WorkerThreads.shared.run {
            var result = result
            let step = try step(rows, passed: passed)
            try step.begin()
            try step.finish(resultType, into: &result)
            return result
        }
    }
}
