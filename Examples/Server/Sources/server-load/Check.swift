import Foundation

/// Compares what the server has with what it has acknowledged.
struct Check: Sendable {
    let client: Client
    let ledger: Ledger
    let receiver: Receiver

    func problems() async throws -> [String] {
        let found = try await reviews()
        return try await ledger.problems + missing(found) + counters() + messages(found)
    }

    // MARK: Reviews

    private struct List: Decodable {
        let reviews: [Review]
        let next: String?
    }

    /// The numbers of all reviews by their texts.
    private func reviews() async throws -> [String: [UInt64]] {
        var found: [String: [UInt64]] = [:]
        for restaurant in 1...Load.restaurants {
            var path: String? = "/restaurants/\(restaurant)/reviews?limit=100"
            while let page = path {
                let list = try await client.insist(.GET, page).answer.decoded(List.self)
                for review in list.reviews {
                    found[review.review.customerReview ?? "", default: []].append(review.number)
                }
                path = list.next
            }
        }
        return found
    }

    private func missing(_ found: [String: [UInt64]]) -> [String] {
        let acknowledged = ledger.reviews
        var problems: [String] = []
        for (text, number) in acknowledged where found[text]?.contains(number) != true {
            problems.append("Review \(number) was acknowledged and is lost.")
        }
        for (text, numbers) in found where numbers.count > 1 {
            problems.append("The review \(text) is there \(numbers.count) times: \(numbers).")
        }
        let others = found.keys.filter { acknowledged[$0] == nil }
        if !others.isEmpty { problems.append("\(others.count) reviews are there that were never acknowledged.") }
        print("Checked: \(acknowledged.count) reviews were acknowledged, \(found.count) are there")
        return problems
    }

    // MARK: Counters

    private func counters() async throws -> [String] {
        var problems: [String] = []
        var (sum, unknown) = (0, 0)
        for (number, counter) in ledger.counters {
            let review = try await client.insist(.GET, "/reviews/\(number)").answer.decoded(Review.self)
            let count = Int(review.review.customerReview ?? "") ?? -1
            (sum, unknown) = (sum + counter.acknowledged, unknown + counter.unknown)
            let most = counter.acknowledged + counter.unknown
            if !(counter.acknowledged...most).contains(count) {
                problems.append("Counter \(number) is \(count); \(counter.acknowledged) to \(most) steps were made.")
            }
        }
        print("  \(sum) changes with If-Match were acknowledged and none is overwritten; \(unknown) had no answer")
        return problems
    }

    // MARK: Messages

    private struct Health: Decodable {
        let outboxLag: Int?
    }

    private func messages(_ found: [String: [UInt64]]) async throws -> [String] {
        let start = ContinuousClock.now
        while try await client.insist(.GET, "/health").answer.decoded(Health.self).outboxLag != 0 {
            guard ContinuousClock.now - start < .seconds(60) else { return ["The outbox is not empty after a minute."] }
            try await Task.sleep(for: .milliseconds(50))
        }
        let keys = receiver.keys
        var problems: [String] = []
        let untold = found.values.joined().filter { keys[$0] == nil }
        if !untold.isEmpty { problems.append("\(untold.count) reviews were not told to the webhook.") }
        for (number, keys) in keys where keys.count > 1 {
            problems.append("Review \(number) was told under \(keys.count) keys.")
        }
        let repeated = receiver.messages.values.filter { $0 > 1 }.count
        print(
            "  \(receiver.messages.count) messages reached the webhook, \(repeated) of them more than once, under the same key;"
        )
        print("  the last of them \((ContinuousClock.now - start).inMilliseconds) ms after the load")
        return problems
    }
}
