import StrataModel

/// The names of properties as key paths of Swift write them.
public enum PropertyName {
    /// The dotted name of a key path whose value's type is unknown.
    static func ofAny<Root: ManagedObject>(_ keyPath: PartialKeyPath<Root>) -> String {
        do {
            return try KeyPathNames.name(of: keyPath)
        } catch {
            preconditionFailure("The key path is no path of properties of \(Root.self): \(error)")
        }
    }

    /// The dotted name of a key path of properties of entities. Any other key path traps.
    public static func of<Root: ManagedObject, Value>(_ keyPath: KeyPath<Root, Value>) -> String {
        ofAny(keyPath)
    }
}

/// Turns key paths into the dotted names that requests are made of.
enum KeyPathNames {
    /// A single step through the table of the class; several steps by reading them on a probe.
    ///
    /// - Throws: `invalidRequest` when the key path passes through something that is no property.
    static func name<Root: ManagedObject>(of path: PartialKeyPath<Root>) throws -> String {
        if let name = EntityDefinition.of(Root.self).names[path] { return name }
        let recorder = ProbeRecorder()
        guard let probe = recorder.makeProbe(of: Root.self) else {
            throw StrataError(.unknownEntity, "\(Root.self) is not an @Entity.")
        }
        _ = probe[keyPath: path]
        guard !recorder.path.isEmpty else {
            throw StrataError(.invalidRequest, "The key path names no property of \(Root.entityName).")
        }
        return recorder.path.joined(separator: ".")
    }
}
