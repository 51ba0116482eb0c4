package import StrataModel
import StrataStore

/// A batch insert whose steps the caller makes, so that it can read the next rows while a step is written.
///
/// A step is prepared, then the step before is finished, then it is begun.
package final class BatchInsertion {
    private let context: ManagedObjectContext
    private let entityName: String
    private let policy: UniquenessPolicy
    private var running: BatchInsertStep?

    /// - Parameter policy: what happens to rows whose unique values an object has already.
    package init(_ context: ManagedObjectContext, entityName: String, onClash policy: UniquenessPolicy) {
        self.context = context
        self.entityName = entityName
        self.policy = policy
    }

    /// A step that is ready to be saved.
    package struct Prepared {
        fileprivate let step: BatchInsertStep
    }

    /// Makes the rows of a step, with the author, the reason and the metadata that the context has now.
    ///
    /// - Throws: validation errors that name the row, counted from 0; `unknownKey`, `wrongType`, `readOnly`.
    package func prepare(_ rows: [BatchValues]) throws -> Prepared {
        let writer = try BatchWriter(context)
        let entity = try writer.entity(named: entityName)
        try entity.checkIsConcrete()
        return Prepared(step: try BatchInsertStep(writer, rows, entity, policy, passed: 0))
    }

    /// Submits the save of a step. The step before is finished.
    package func begin(_ prepared: Prepared) throws {
        try prepared.step.begin()
        running = prepared.step
    }

    /// Waits until the step that was begun is saved, and moves the context to the newest state.
    ///
    /// - Returns: what the step did; nil if none was begun.
    /// - Throws: what a batch insert throws for rows that cannot be saved.
    package func finish() throws -> BatchResult? {
        guard let step = running else { return nil }
        running = nil
        var result = BatchResult()
        do {
            try step.finish(.count, into: &result)
        } catch {
            try context.moveToHead()
            throw error
        }
        try context.moveToHead()
        return result
    }
}
