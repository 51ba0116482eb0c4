// Calls the app's type that makes a column of a view (`ProjectionCode`).

import Foundation
import Locking
package import StrataModel

/// An object that comes into a group of a projection, or leaves it.
package struct ProjectedChange {
    package let object: ObjectID
    /// The values of the inputs, in their order.
    package let values: [AttributeValue]
    package let isRemoval: Bool

    package init(object: ObjectID, values: [AttributeValue], isRemoval: Bool) {
        (self.object, self.values, self.isRemoval) = (object, values, isRemoval)
    }
}

/// The code of a type of the app that makes a column of views.
package struct ProjectionCode: Sendable {
    package let typeName: String
    /// Makes the next state of a group; nil is the state of a group without objects.
    package let advance: @Sendable (AttributeValue?, [ProjectedChange]) throws -> AttributeValue

    package init(
        _ typeName: String, advance: @escaping @Sendable (AttributeValue?, [ProjectedChange]) throws -> AttributeValue
    ) {
        (self.typeName, self.advance) = (typeName, advance)
    }

    private static let known = Locked<[String: ProjectionCode]>([:])

    /// The code of this process under a name; nil if it has none.
    package static func named(_ typeName: String) -> ProjectionCode? { known.withLock { $0[typeName] } }

    /// From now on this process keeps projections of this name.
    package func register() { Self.known.withLock { $0[typeName] = self } }

    /// Forgets the code of a name, as a process without the type.
    package static func forget(_ typeName: String) { known.withLock { $0[typeName] = nil } }

    /// The error for a column whose type this process does not have.
    static func missing(_ typeName: String, of view: PreparedView) -> StrataError {
        StrataError(
            .viewFailed,
            "The view \(view.description.name) is made by the type \(typeName) of an app, which this process does not "
                + "have. Read its rows at the event that it has reached, or in the app.", context: view.context)
    }
}

/// The reason for which a projection cannot follow a change.
package struct ProjectionFault: Error {
    package let object: ObjectID
    package let reason: String

    package init(object: ObjectID, reason: String) { (self.object, self.reason) = (object, reason) }
}

/// The objects that come into a group of a projection and leave it, collected in any order. An object that leaves with
/// the values that it came with is no change.
struct ProjectedChanges {
    /// The multiplicity of each object with certain values, by its id, big-endian, and the values as `ValueCodec`
    /// writes them.
    private var counts: [[UInt8]: Int64] = [:]
    private(set) var sizeInBytes = 0

    mutating func add(_ id: ObjectID, _ values: [AttributeValue], _ sign: Int64) throws(UnstorableValue) {
        var writer = ByteWriter(capacity: 16 + values.count * 16)
        writer.append(bigEndian: id.rawValue)
        for value in values { try ValueCodec.encode(value.withNormalText, into: &writer) }
        let key = Array(writer.bytes)
        let count = counts[key, default: 0] + sign
        if count == 0 {
            counts[key] = nil
        } else {
            if counts.updateValue(count, forKey: key) == nil { sizeInBytes += key.count + 96 }
        }
    }

    /// The changes in the order in which a projection gets them: added objects before removed ones, each by id.
    func inOrder() throws -> [ProjectedChange] {
        var changes: [ProjectedChange] = []
        let keys = counts.keys.sorted { $0.lexicographicallyPrecedes($1) }
        for isRemoval in [false, true] {
            for key in keys {
                guard let count = counts[key], (count < 0) == isRemoval else { continue }
                let change = try Self.change(key, isRemoval)
                for _ in 0..<count.magnitude { changes.append(change) }
            }
        }
        return changes
    }

    private static func change(_ key: [UInt8], _ isRemoval: Bool) throws -> ProjectedChange {
        try key.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let id = ObjectID(rawValue: UInt64(bigEndian: try reader.readInteger()))
            var values: [AttributeValue] = []
            while reader.remaining > 0 { values.append(try ValueCodec.decode(&reader)) }
            return ProjectedChange(object: id, values: values, isRemoval: isRemoval)
        }
    }
}

extension AttributeValue {
    /// The value with its text in the normal form, as in the key of a group.
    fileprivate var withNormalText: AttributeValue {
        guard case .string(let text) = self, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        return .string(text.precomposedStringWithCanonicalMapping)
    }
}

extension PreparedView {
    /// Whether this process has the types of all columns.
    var hasCode: Bool { projectionNames.allSatisfy { ProjectionCode.named($0) != nil } }

    /// - Throws: `viewFailed` if this process lacks a type.
    func checkCode() throws(StrataError) {
        if let name = projectionNames.first(where: { ProjectionCode.named($0) == nil }) {
            throw ProjectionCode.missing(name, of: self)
        }
    }

    /// The bytes of a projection's next state.
    ///
    /// - Throws: `ViewFault` for an object that the projection cannot follow; `viewFailed` if the process does not have
    ///   the type.
    func advance(_ aggregate: Int, _ state: [UInt8]?, by changes: ProjectedChanges) throws -> [UInt8] {
        let ordered = try changes.inOrder()
        if ordered.isEmpty, let state { return state }
        guard let name = aggregates[aggregate].projection?.typeName else { return [] }
        guard let code = ProjectionCode.named(name) else { throw ProjectionCode.missing(name, of: self) }
        do {
            let before: AttributeValue? = try state.map { state in
                try state.withUnsafeBytes { bytes in
                    var reader = ByteReader(bytes)
                    return try ValueCodec.decode(&reader)
                }
            }
            var writer = ByteWriter(capacity: 256)
            try ValueCodec.encode(try code.advance(before, ordered), into: &writer)
            return Array(writer.bytes)
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(error, "viewGroups", context)
        } catch let fault as ProjectionFault {
            throw ViewFault(
                object: fault.object,
                cause: StrataError(
                    .invalidRequest, "The type \(name) cannot follow a change: \(fault.reason)",
                    context: .init(objectID: fault.object, key: description.name)))
        } catch let error as UnstorableValue {
            let object = ordered.first?.object ?? ObjectID(rawValue: 0)
            throw ViewFault(
                object: object,
                cause: StrataError(
                    .invalidRequest, "The state of the type \(name) cannot be stored: \(error)",
                    context: .init(objectID: object, key: description.name)))
        }
    }
}
