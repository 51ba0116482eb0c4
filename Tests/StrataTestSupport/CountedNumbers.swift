package import StrataModel
import StrataStore

/// A column of views that an app's type would make: how many numbers an owner's movies have, and their sum. A number
/// that leaves without having come is a fault.
package enum CountedNumbers {
    package static let column = ViewAggregate("counted", ProjectionReference("CountedNumbers", inputs: ["number"]))

    /// From now on this process keeps the column.
    package static func register() {
        ProjectionCode("CountedNumbers") { before, changes in
            var (count, sum): (Int64, Int64) = (0, 0)
            if case .composite(let known)? = before {
                if case .integer(let known)? = known["count"] { count = known }
                if case .integer(let known)? = known["sum"] { sum = known }
            }
            for change in changes {
                guard case .integer(let number) = change.values[0] else { continue }
                count += change.isRemoval ? -1 : 1
                sum += change.isRemoval ? -number : number
                if count < 0 { throw ProjectionFault(object: change.object, reason: "it was never there") }
            }
            return .composite(["count": .integer(count), "sum": .integer(sum)])
        }
        .register()
    }
}
