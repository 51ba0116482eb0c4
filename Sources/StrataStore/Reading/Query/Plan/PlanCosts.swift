import StrataModel

/// What single steps take, in nanoseconds on a store in memory. Only their ratios count.
enum PlanCost {
    /// A row met in a scan, unpacked.
    static let scannedRow = 80.0
    /// A row read by its id.
    static let row = 400.0
    static let indexEntry = 40.0
    static let link = 60.0
    static let seek = 700.0
    /// An id put in order among others.
    static let sortedID = 15.0
    /// A row put in order by its values.
    static let sortedRow = 250.0

    static func evaluating(_ condition: any RowCondition) -> Double {
        switch condition.cost {
        case .constant: 1
        case .scalar: 5
        case .text: 40
        case .value: 200
        case .otherRow: 600
        case .manyRows: 3000
        }
    }
}

/// A choice between plans that is made badly on purpose, so that tests see plans that statistics would never choose.
struct PlanDisturbance: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A number from a thousandth to a thousand.
    mutating func factor() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let part = Double(state >> 40) / Double(1 << 24)
        return part < 0.5 ? 0.001 + part : 1 + (part - 0.5) * 2000
    }
}
