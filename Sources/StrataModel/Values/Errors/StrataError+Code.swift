extension StrataError {
    /// A kind of failure. Codes up to 134999 are Core Data's numbers; Strata's own begin at 200000.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number of the code.
        public let rawValue: Int

        /// The code with a number, which need not be one of those below.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The code's name, such as `validationNumberTooLarge`; "code" if the number is unknown.
        public var name: String { Self.names[rawValue] ?? "code" }

        /// The name, or the number of an unknown code.
        public var description: String { Self.names[rawValue] ?? "code \(rawValue)" }
    }
}

extension StrataError.Code {
    // Validation
    /// A value or an object breaks a rule of the model, such as a validation predicate.
    public static let managedObjectValidation = Self(rawValue: 1550)
    /// Several failures of one save; `details` has them.
    public static let validationMultipleErrors = Self(rawValue: 1560)
    /// A required property has no value.
    public static let validationMissingMandatoryProperty = Self(rawValue: 1570)
    /// A to-many relationship has fewer members than its minimum.
    public static let validationRelationshipLacksMinimumCount = Self(rawValue: 1580)
    /// A to-many relationship has more members than its maximum.
    public static let validationRelationshipExceedsMaximumCount = Self(rawValue: 1590)
    /// A delete rule of `deny` forbids the deletion.
    public static let validationRelationshipDeniedDelete = Self(rawValue: 1600)
    /// A number is above its maximum.
    public static let validationNumberTooLarge = Self(rawValue: 1610)
    /// A number is below its minimum.
    public static let validationNumberTooSmall = Self(rawValue: 1620)
    /// A date is after its maximum.
    public static let validationDateTooLate = Self(rawValue: 1630)
    /// A date is before its minimum.
    public static let validationDateTooSoon = Self(rawValue: 1640)
    /// A date is not finite.
    public static let validationInvalidDate = Self(rawValue: 1650)
    /// Text or data is longer than its maximum.
    public static let validationStringTooLong = Self(rawValue: 1660)
    /// Text or data is shorter than its minimum.
    public static let validationStringTooShort = Self(rawValue: 1670)
    /// Text does not match its pattern.
    public static let validationStringPatternMatching = Self(rawValue: 1680)
    /// A URL is empty.
    public static let validationInvalidURI = Self(rawValue: 1690)
    // Objects and merging
    /// An object that an operation names does not exist.
    public static let referentialIntegrity = Self(rawValue: 133000)
    /// An earlier save changed the same objects; `context.conflicts` has them.
    public static let merge = Self(rawValue: 133020)
    /// An object with the same unique values exists; `context.conflictingObjectIDs` has it.
    public static let constraintMerge = Self(rawValue: 133021)
    // Stores
    /// A save did not come to an end, because hooks kept changing objects.
    public static let persistentStoreSave = Self(rawValue: 134030)
    /// Objects are not in the state that the save expected.
    public static let persistentStoreSaveConflicts = Self(rawValue: 134050)
    /// An operation on the store failed.
    public static let persistentStoreOperation = Self(rawValue: 134070)
    /// The store cannot be opened.
    public static let persistentStoreOpen = Self(rawValue: 134080)
    /// Another process holds what the operation needs, such as the store itself.
    public static let persistentStoreTimeout = Self(rawValue: 134090)
    /// The store's model does not fit the classes or the model given.
    public static let persistentStoreIncompatibleVersionHash = Self(rawValue: 134100)
    /// A migration failed.
    public static let migration = Self(rawValue: 134110)
    // Strata's own
    /// A record on disk is damaged: its checksum, length or format is wrong.
    public static let corrupt = Self(rawValue: 200000)
    /// The model has problems; `details` has all of them.
    public static let invalidModel = Self(rawValue: 200010)
    /// A model file cannot be read; the cause says where.
    public static let invalidModelFile = Self(rawValue: 200011)
    /// The entity has no property of this name.
    public static let unknownKey = Self(rawValue: 200020)
    /// The model has no entity of this name.
    public static let unknownEntity = Self(rawValue: 200021)
    /// The value does not fit the property's type.
    public static let wrongType = Self(rawValue: 200022)
    /// The object belongs to another context.
    public static let otherContext = Self(rawValue: 200023)
    /// The object was deleted.
    public static let deletedObject = Self(rawValue: 200024)
    /// The context shows the past or belongs to a read-only container, and cannot be changed.
    public static let readOnly = Self(rawValue: 200025)
    /// Another process has installed a newer model since this store was opened.
    public static let modelChanged = Self(rawValue: 200030)
    /// The store has a newer model than the one given, which it had before. `details` names what would be hidden.
    public static let modelDowngrade = Self(rawValue: 200031)
    /// The commit may or may not have reached the disk.
    public static let inDoubt = Self(rawValue: 200040)
    /// One save has too many changes for one transaction.
    public static let saveTooLarge = Self(rawValue: 200041)
    /// The disk is full or failed.
    public static let noSpace = Self(rawValue: 200042)
    /// The moment is before the kept history; `context.baseline` says where that begins.
    public static let historyDropped = Self(rawValue: 200050)
    /// The event or transaction is after the end of the log.
    public static let futureEvent = Self(rawValue: 200051)
    /// The file of a large value is missing.
    public static let missingBlob = Self(rawValue: 200060)
    /// A value transformer cannot read the bytes of a transformable.
    public static let transformation = Self(rawValue: 200070)
    /// A request cannot be run.
    public static let invalidRequest = Self(rawValue: 200080)
    /// A key is longer than the store allows.
    public static let keyTooLong = Self(rawValue: 200081)
    /// A request takes more steps or memory than its budget allows.
    public static let budgetExceeded = Self(rawValue: 200082)
    /// The store was closed.
    public static let storeClosed = Self(rawValue: 200090)
    /// Two logs that should be one have different transactions under one number; `context.eventNumber` is the first
    /// event that differs.
    public static let divergedLog = Self(rawValue: 200100)
    /// The log that several machines share cannot be reached.
    public static let logUnavailable = Self(rawValue: 200101)
    /// Another machine has taken over work that one machine does at a time.
    public static let leaseLost = Self(rawValue: 200102)
    /// A target that a store is shipped to cannot be reached, or refuses.
    public static let targetUnavailable = Self(rawValue: 200120)
    /// Something is missing at a target, or is not what was shipped to it.
    public static let targetIncomplete = Self(rawValue: 200121)
    /// A value is encrypted under a key that was not given; the message has the key's id.
    public static let encryptionKeyMissing = Self(rawValue: 200130)
    /// The keys that were given are not those of the store.
    public static let encryptionKeyWrong = Self(rawValue: 200131)
    /// An encrypted value was changed outside Strata, or is not where it was written: its key is known and it does not
    /// decrypt.
    public static let encryptedValueDamaged = Self(rawValue: 200132)
    /// A value is encrypted under the key of a subject that was erased, so it can no longer be read.
    public static let subjectErased = Self(rawValue: 200134)
    /// A view that catches up cannot follow an event; `context.objectID` is the object that it cannot group.
    public static let viewFailed = Self(rawValue: 200133)

    private static let names: [Int: String] = [
        1550: "managedObjectValidation", 1560: "validationMultipleErrors",
        1570: "validationMissingMandatoryProperty", 1580: "validationRelationshipLacksMinimumCount",
        1590: "validationRelationshipExceedsMaximumCount", 1600: "validationRelationshipDeniedDelete",
        1610: "validationNumberTooLarge", 1620: "validationNumberTooSmall", 1630: "validationDateTooLate",
        1640: "validationDateTooSoon", 1650: "validationInvalidDate", 1660: "validationStringTooLong",
        1670: "validationStringTooShort", 1680: "validationStringPatternMatching", 1690: "validationInvalidURI",
        133000: "referentialIntegrity", 133020: "merge", 133021: "constraintMerge",
        134030: "persistentStoreSave", 134050: "persistentStoreSaveConflicts",
        134070: "persistentStoreOperation", 134080: "persistentStoreOpen", 134090: "persistentStoreTimeout",
        134100: "persistentStoreIncompatibleVersionHash",
        134110: "migration",
        200000: "corrupt", 200010: "invalidModel", 200011: "invalidModelFile", 200020: "unknownKey",
        200021: "unknownEntity",
        200022: "wrongType", 200023: "otherContext", 200024: "deletedObject", 200025: "readOnly",
        200030: "modelChanged",
        200031: "modelDowngrade", 200040: "inDoubt", 200041: "saveTooLarge", 200042: "noSpace",
        200050: "historyDropped", 200051: "futureEvent", 200060: "missingBlob", 200070: "transformation",
        200080: "invalidRequest", 200081: "keyTooLong", 200082: "budgetExceeded", 200090: "storeClosed",
        200100: "divergedLog", 200101: "logUnavailable", 200102: "leaseLost",
        200130: "encryptionKeyMissing", 200131: "encryptionKeyWrong", 200132: "encryptedValueDamaged",
        200133: "viewFailed", 200134: "subjectErased", 200120: "targetUnavailable", 200121: "targetIncomplete",
    ]
}
