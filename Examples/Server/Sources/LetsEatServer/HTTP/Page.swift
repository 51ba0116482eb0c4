import Hummingbird
import Strata

/// Which part of a list is asked for, and of which moment: a list that goes on growing has the same pages for as long as
/// its reader turns them.
struct Page: Hashable, Sendable {
    static let largest = 100
    static let deepest = 10_000

    var limit = 20
    var offset = 0
    /// nil for the present.
    var moment: EventNumber?

    init(limit: Int, offset: Int, moment: EventNumber?) {
        self.limit = limit
        self.offset = offset
        self.moment = moment
    }

    /// The parameters `limit`, `offset` and `at`.
    ///
    /// - Throws: a problem with status 400 for what is out of bounds.
    init(_ request: Request) throws {
        limit = try Self.number("limit", request, 1...Self.largest) ?? limit
        offset = try Self.number("offset", request, 0...Self.deepest) ?? 0
        moment = try Self.number("at", request, 0...Int.max).map { EventNumber(rawValue: UInt64($0)) }
    }

    static func number(_ name: String, _ request: Request, _ bounds: ClosedRange<Int>) throws -> Int? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw Problem(
                .badRequest, "\(name) is not what it may be.",
                remedy: bounds.upperBound == .max
                    ? "Send \(name) as a number from a link of this service."
                    : "Send \(name) as a number from \(bounds.lowerBound) to \(bounds.upperBound).")
        }
        return number
    }

    /// The address of the page behind this one.
    func next(of path: String, at moment: EventNumber) -> String {
        "\(path)?limit=\(limit)&offset=\(offset + limit)&at=\(moment)"
    }
}
