import StrataModel

/// The result of an upgrade of a store, or of a plan for it.
package struct UpgradeReport: Sendable {
    /// The form of the store at one moment.
    package struct Form: Sendable {
        package let eventCount: Int
        /// The records that hold the events: those of single events, and blocks.
        package let recordCount: Int
        package let blockCount: Int
        package let fileSizeInBytes: Int
        package let logSizeInBytes: Int
        package let freeSizeInBytes: Int
        /// The features of the store that not every version can read.
        package let features: [StoreFeature]

        /// The oldest version that opens the store for writing.
        package var oldestVersion: String { features.isEmpty ? StoreFeature.firstVersion : StoreFeature.ownVersion }
    }

    package let before: Form
    /// Nil if nothing was written.
    package var after: Form?
    /// The number of events that went into blocks, or that would be looked at for that.
    package var packedEventCount = 0
    package var stepCount = 0
    package var duration = Duration.zero

    init(before: Form) { self.before = before }
}

/// Something in a store that versions before it refuse, or open for reading only.
package enum StoreFeature: String, Sendable, Hashable, CaseIterable {
    case blocks = "blocks of events"
    case truncation = "a truncated history"
    case erasures = "erasures"
    case encryption = "encrypted attributes"
    case journal = "a journal of saves"
    case thinning = "a thinned history of entities"
    case views = "declared views"
    case texts = "full texts"
    case standby = "a standby"

    /// The first released version, which has none of them.
    static let firstVersion = "0.1.0"
    /// The version that has all features.
    static let ownVersion = "this version"

    /// Whether a version that does not know it still reads the store.
    package var isReadableWithout: Bool {
        switch self {
        case .views, .texts, .standby: true
        case .blocks, .truncation, .erasures, .encryption, .journal, .thinning: false
        }
    }
}

extension StoreHeader {
    /// The features of the store that not every version can read.
    var features: [StoreFeature] {
        StoreFeature.allCases.filter { feature in
            switch feature {
            case .blocks: hasBlocks
            case .truncation: hasBaseline
            case .erasures: hasErasures
            case .encryption: isEncrypted
            case .journal: isJournaled
            case .thinning: isThinned
            case .views: hasViews || hasFormerViews
            case .texts: hasTexts
            case .standby: isStandby
            }
        }
    }
}
