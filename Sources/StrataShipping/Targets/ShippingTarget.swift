// The interface of a place that logs are shipped to (`ShippingTarget`).

public import Foundation

/// A file at a target.
public struct TargetEntry: Sendable, Hashable {
    /// The file's name, with `/` between its parts.
    public let name: String
    /// The size of the file.
    public let sizeInBytes: Int
    /// When the file was written, by the target's clock; nil if the target does not know.
    public let date: Date?

    /// Describes a file.
    public init(name: String, sizeInBytes: Int, date: Date? = nil) {
        self.name = name
        self.sizeInBytes = sizeInBytes
        self.date = date
    }
}

/// The result of writing a file.
public enum TargetWrite: Sendable, Hashable {
    /// The file is there now, whole and durable.
    case written
    /// A file with this name was there before, and stays as it was.
    case existed
}

/// A place that keeps a copy of a store's log: a directory, a bucket, or something of the app's own.
///
/// A target holds files under names such as `log/…/….segment`. A file appears whole or not at all, and changes
/// only when values are erased from it.
/// Calls block their thread, and may come from several threads and processes at once.
///
/// Errors are `StrataError`s: `noSpace` if the target is full, `targetUnavailable` if it cannot be reached or refuses.
public protocol ShippingTarget: Sendable {
    /// The target's name in messages, such as a path or an address. It has no secrets.
    var label: String { get }

    /// The files whose names begin with `prefix`, sorted by name in the order of their bytes.
    ///
    /// - Parameters:
    ///   - prefix: empty, or ends with `/`.
    ///   - start: leaves out this name and those before it; nil for none.
    func entries(under prefix: String, after start: String?) throws -> [TargetEntry]

    /// The content of a file; nil if there is no such file.
    func read(_ name: String) throws -> Data?

    /// Writes a file, if there is none with its name. When this returns, the file survives loss of power.
    func write(_ data: Data, to name: String) throws -> TargetWrite

    /// Writes a file in the place of the one with its name, as after an erasure. A reader gets the one or the other, and
    /// when this returns, the new one survives loss of power.
    func replace(_ name: String, with data: Data) throws

    /// Removes a file. Does nothing if there is none.
    func remove(_ name: String) throws

    /// Removes the remains of unfinished writes that began long ago.
    func removeLeftovers() throws
}

extension ShippingTarget {
    /// Nothing is left by a write that fails.
    public func removeLeftovers() throws {}
}
