public import Foundation

extension StrataError: LocalizedError {
    /// A sentence about the error for the people who use the app: without codes, ids and paths, which `description`
    /// has.
    ///
    /// Several failures of one save are a line each. For an error of the app's own checks it is that error's
    /// description.
    public var errorDescription: String? { Self.sentences[code] ?? sentenceOfNames }

    /// The sentence of a code whose message is for people already, or is made of names in the model.
    private var sentenceOfNames: String {
        switch code {
        case .validationMultipleErrors:
            var seen: Set<String> = []
            return details.compactMap(\.errorDescription).filter { seen.insert($0).inserted }.joined(separator: "\n")
        case .constraintMerge:
            guard let key = context.key, !key.isEmpty, details.isEmpty else {
                return "Other objects have the same values, which must be unique."
            }
            let names = key.split(separator: ",").joined(separator: ", ")
            return "Another \(context.entityName ?? "object") has the same \(names)."
        case .managedObjectValidation:
            guard let cause else { return message }
            if let own = (cause as? any LocalizedError)?.errorDescription { return own }
            return "\(context.key ?? context.entityName ?? "The object") is not valid."
        default: return message
        }
    }

    /// The sentences for codes whose messages are for engineers.
    private static let sentences: [Code: String] = [
        .referentialIntegrity: "The object does not exist any more.",
        .merge: "Another user or program has changed the same data.",
        .persistentStoreSave: "The changes could not be saved.",
        .persistentStoreSaveConflicts: "The data has been changed meanwhile.",
        .persistentStoreOperation: "The store could not be used.",
        .persistentStoreOpen: "The store cannot be opened.",
        .persistentStoreTimeout: "The store is in use.",
        .persistentStoreIncompatibleVersionHash: "The store does not fit this version of the app.",
        .migration: "The data of the store does not fit this version of the app.",
        .corrupt: "The store is damaged.",
        .invalidModel: "The data model is not valid.",
        .invalidModelFile: "The data model cannot be read.",
        .otherContext: "The object cannot be used here.",
        .readOnly: "The data cannot be changed.",
        .modelChanged: "Another version of the app has changed the store. Open it again.",
        .modelDowngrade: "The store was used by a newer version of the app.",
        .inDoubt: "It is not certain whether the changes were saved.",
        .saveTooLarge: "There are too many changes to be saved at once.",
        .noSpace: "The disk is full or has failed.",
        .historyDropped: "The history does not go back that far.",
        .futureEvent: "The history does not go that far.",
        .missingBlob: "A large value of the store is missing.",
        .transformation: "A value could not be converted.",
        .budgetExceeded: "The request takes too long or too much memory.",
        .storeClosed: "The store is closed.",
    ]
}
