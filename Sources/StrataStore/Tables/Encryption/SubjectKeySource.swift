package import Foundation
package import StrataModel

/// The place of the keys of subjects, outside the store.
package struct SubjectKeySource: Sendable {
    /// The state of a subject's key.
    package enum Answer: Sendable {
        case key(Data)
        case destroyed
        /// There never was one.
        case none
    }

    let find: @Sendable (SubjectID) throws -> Answer
    let make: @Sendable ([SubjectID]) throws -> [Data]
    let destroy: @Sendable ([SubjectID]) throws -> Void

    /// - Parameters:
    ///   - find: returns the key of a subject.
    ///   - make: makes missing keys, and returns all keys in the order of the subjects; it throws `subjectErased` for a
    ///     destroyed one.
    ///   - destroy: destroys keys for ever.
    package init(
        find: @escaping @Sendable (SubjectID) throws -> Answer,
        make: @escaping @Sendable ([SubjectID]) throws -> [Data],
        destroy: @escaping @Sendable ([SubjectID]) throws -> Void
    ) {
        self.find = find
        self.make = make
        self.destroy = destroy
    }
}

extension StrataError {
    /// The error for a value of a subject whose key was destroyed.
    package static func subjectErased(_ subject: SubjectID, _ context: Context = .init()) -> StrataError {
        StrataError(
            .subjectErased,
            "\(context.key ?? "The value") was encrypted under the key of a subject that was erased; its value is lost. "
                + "The subject is \(subject).",
            context: context)
    }
}
