import StrataModel

/// The costs of single steps, in nanoseconds for a store in memory. Only their ratios matter.
enum PlanCost {
    /// Reading a row in a scan.
    static let scannedRow = 80.0
    /// Reading a row by its id.
    static let row = 400.0
    static let indexEntry = 40.0
    static let link = 60.0
    /// An object in the list of a word.
    static let textEntry = 5.0
    /// Looking up the positions of words in an object.
    static let textPosition = 150.0
    static let seek = 700.0
    /// Sorting an id.
    static let sortedID = 15.0
    /// Sorting a row by its values.
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

/// Wrong costs on purpose, so that tests run plans that statistics would never choose.
struct PlanDisturbance: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A factor from 1/1000 to 1000.
    mutating func factor() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let part = Double(state >> 40) / Double(1 << 24)
        return part < 0.5 ? 0.001 + part : 1 + (part - 0.5) * 2000
    }
}
