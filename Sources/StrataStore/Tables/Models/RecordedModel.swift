import Foundation
import StrataModel
import Synchronization

/// A model that a store has had. Only the newest is decoded at opening; the others keep their record until a row or
/// event of their age is read, because decoding a model takes longer than everything else in opening a store.
final class RecordedModel: Sendable {
    let version: ModelVersion
    private let record: Data
    private let made = AtomicLazyReference<Schema>()

    init(_ schema: Schema) {
        version = schema.version
        record = Data()
        _ = made.storeIfNil(schema)
    }

    /// - Parameter record: as encoded by `SchemaRecord.encoded`.
    init(_ version: ModelVersion, record: Data) {
        self.version = version
        self.record = record
    }

    /// - Throws: `corrupt` if the record cannot be decoded.
    func schema() throws(StrataError) -> Schema {
        if let made = made.load() { return made }
        let schema: Schema
        do {
            schema = try SchemaRecord.schema(from: record)
        } catch {
            throw damaged(error)
        }
        guard schema.version == version else { throw damaged(nil) }
        return made.storeIfNil(schema)
    }

    /// The model, if it has been decoded from these bytes.
    func decoded(from record: Data) -> Schema? { record == self.record ? made.load() : nil }

    private func damaged(_ cause: StrataError?) -> StrataError {
        StrataError(
            .corrupt, "The record of model \(version.rawValue) cannot be decoded; a rebuild restores it from the log.",
            cause: cause)
    }
}
