extension StrataError {
    /// A kind of failure. Codes up to 134999 are Core Data's numbers; Strata's own begin at 200000.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The code's name, such as `validationNumberTooLarge`.
        public var name: String { Self.names[rawValue] ?? "code" }
    }
}

extension StrataError.Code {
    // Validation
    public static let managedObjectValidation = Self(rawValue: 1550)
    public static let managedObjectConstraintValidation = Self(rawValue: 1551)
    public static let validationMultipleErrors = Self(rawValue: 1560)
    public static let validationMissingMandatoryProperty = Self(rawValue: 1570)
    public static let validationRelationshipLacksMinimumCount = Self(rawValue: 1580)
    public static let validationRelationshipExceedsMaximumCount = Self(rawValue: 1590)
    public static let validationRelationshipDeniedDelete = Self(rawValue: 1600)
    public static let validationNumberTooLarge = Self(rawValue: 1610)
    public static let validationNumberTooSmall = Self(rawValue: 1620)
    public static let validationDateTooLate = Self(rawValue: 1630)
    public static let validationDateTooSoon = Self(rawValue: 1640)
    public static let validationInvalidDate = Self(rawValue: 1650)
    public static let validationStringTooLong = Self(rawValue: 1660)
    public static let validationStringTooShort = Self(rawValue: 1670)
    public static let validationStringPatternMatching = Self(rawValue: 1680)
    public static let validationInvalidURI = Self(rawValue: 1690)
    // Objects and merging
    public static let referentialIntegrity = Self(rawValue: 133000)
    public static let externalRelationship = Self(rawValue: 133010)
    public static let merge = Self(rawValue: 133020)
    public static let constraintMerge = Self(rawValue: 133021)
    // Stores
    public static let persistentStoreSave = Self(rawValue: 134030)
    public static let persistentStoreSaveConflicts = Self(rawValue: 134050)
    public static let coreData = Self(rawValue: 134060)
    public static let persistentStoreOperation = Self(rawValue: 134070)
    public static let persistentStoreOpen = Self(rawValue: 134080)
    public static let persistentStoreTimeout = Self(rawValue: 134090)
    public static let persistentStoreUnsupportedRequestType = Self(rawValue: 134091)
    public static let persistentStoreIncompatibleVersionHash = Self(rawValue: 134100)
    public static let migration = Self(rawValue: 134110)
    public static let inferredMappingModel = Self(rawValue: 134190)
    public static let persistentHistoryTokenExpired = Self(rawValue: 134301)
    // Strata's own
    /// A record on disk is not what its checksum, length or codec says.
    public static let corrupt = Self(rawValue: 200000)
    /// The model makes no sense; `details` has every fault.
    public static let invalidModel = Self(rawValue: 200010)
    /// A model file is not what it should be; the cause says where.
    public static let invalidModelFile = Self(rawValue: 200011)
    /// No property of that name.
    public static let unknownKey = Self(rawValue: 200020)
    public static let unknownEntity = Self(rawValue: 200021)
    /// The value does not fit the property's type.
    public static let wrongType = Self(rawValue: 200022)
    /// The object belongs to another context.
    public static let otherContext = Self(rawValue: 200023)
    /// The object was deleted.
    public static let deletedObject = Self(rawValue: 200024)
    /// The context (a past one, or of a read-only container) cannot be changed.
    public static let readOnly = Self(rawValue: 200025)
    /// Another process installed a newer model since this store was opened.
    public static let modelChanged = Self(rawValue: 200030)
    /// The commit may or may not have reached the disk.
    public static let inDoubt = Self(rawValue: 200040)
    public static let saveTooLarge = Self(rawValue: 200041)
    /// The disk is full or failed.
    public static let noSpace = Self(rawValue: 200042)
    /// A time before the kept history.
    public static let historyDropped = Self(rawValue: 200050)
    /// A time after the end of the log.
    public static let futureSequence = Self(rawValue: 200051)
    /// The file of a large value is missing.
    public static let missingBlob = Self(rawValue: 200060)
    /// The bytes of a transformable are not of an allowed class.
    public static let transformation = Self(rawValue: 200070)
    /// A request cannot be run.
    public static let invalidRequest = Self(rawValue: 200080)
    public static let keyTooLong = Self(rawValue: 200081)
    /// The store was closed.
    public static let storeClosed = Self(rawValue: 200090)

    private static let names: [Int: String] = [
        1550: "managedObjectValidation", 1551: "managedObjectConstraintValidation", 1560: "validationMultipleErrors",
        1570: "validationMissingMandatoryProperty", 1580: "validationRelationshipLacksMinimumCount",
        1590: "validationRelationshipExceedsMaximumCount", 1600: "validationRelationshipDeniedDelete",
        1610: "validationNumberTooLarge", 1620: "validationNumberTooSmall", 1630: "validationDateTooLate",
        1640: "validationDateTooSoon", 1650: "validationInvalidDate", 1660: "validationStringTooLong",
        1670: "validationStringTooShort", 1680: "validationStringPatternMatching", 1690: "validationInvalidURI",
        133000: "referentialIntegrity", 133010: "externalRelationship", 133020: "merge", 133021: "constraintMerge",
        134030: "persistentStoreSave", 134050: "persistentStoreSaveConflicts", 134060: "coreData",
        134070: "persistentStoreOperation", 134080: "persistentStoreOpen", 134090: "persistentStoreTimeout",
        134091: "persistentStoreUnsupportedRequestType", 134100: "persistentStoreIncompatibleVersionHash",
        134110: "migration", 134190: "inferredMappingModel", 134301: "persistentHistoryTokenExpired",
        200000: "corrupt", 200010: "invalidModel", 200011: "invalidModelFile", 200020: "unknownKey",
        200021: "unknownEntity",
        200022: "wrongType", 200023: "otherContext", 200024: "deletedObject", 200025: "readOnly",
        200030: "modelChanged", 200040: "inDoubt", 200041: "saveTooLarge", 200042: "noSpace",
        200050: "historyDropped", 200051: "futureSequence", 200060: "missingBlob", 200070: "transformation",
        200080: "invalidRequest", 200081: "keyTooLong", 200090: "storeClosed",
    ]
}
