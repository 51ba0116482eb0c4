import Foundation

/// A mix of reads and writes by workers that each make one request after another.
struct Load: Sendable {
    static let restaurants = 50
    private static let counterCount = 16

    let client: Client
    let ledger: Ledger
    let workers: Int
    let writeShare: Double

    /// Makes the reviews that count, and some to read.
    func prepare() async throws {
        for _ in 0..<Self.counterCount {
            let review = try await make("0", restaurant: Self.restaurants + 1)
            ledger.noteCounter(review) { _ in }
        }
        for restaurant in 1...Self.restaurants {
            let text = UUID().uuidString
            ledger.note(text, try await make(text, restaurant: restaurant))
        }
    }

    func run(for duration: Duration) async -> Timings {
        let end = ContinuousClock.now + duration
        return await withTaskGroup(of: Timings.self) { tasks in
            for _ in 0..<workers {
                tasks.addTask {
                    var timings = Timings(duration: duration)
                    while .now < end { await work(&timings) }
                    return timings
                }
            }
            return await tasks.reduce(into: Timings(duration: duration)) { $0.add($1) }
        }
    }

    private func work(_ timings: inout Timings) async {
        let start = ContinuousClock.now
        guard Double.random(in: 0..<1) < writeShare else {
            if await read() { timings.reads.append(.now - start) } else { await rest(&timings) }
            return
        }
        // Two of three writes are new reviews.
        if Int.random(in: 0..<3) > 0 {
            let text = UUID().uuidString
            do {
                ledger.note(text, try await make(text, restaurant: .random(in: 1...Self.restaurants), &timings))
                timings.writes.append(.now - start)
            } catch {
                ledger.noteProblem("\(error)")
            }
        } else if await increment() {
            timings.writes.append(.now - start)
        } else {
            await rest(&timings)
        }
    }

    private func rest(_ timings: inout Timings) async {
        timings.failures += 1
        do { try await Task.sleep(for: .milliseconds(20)) } catch {}
    }

    // MARK: Requests

    private func make(_ text: String, restaurant: Int) async throws -> UInt64 {
        var timings = Timings(duration: .zero)
        return try await make(text, restaurant: restaurant, &timings)
    }

    /// Makes a review, and asks again under the same key until there is an answer.
    private func make(_ text: String, restaurant: Int, _ timings: inout Timings) async throws -> UInt64 {
        let body = #"{"name":"load","rating":\#(Int.random(in: 0...5)),"customerReview":"\#(text)"}"#
        let headers = [("Idempotency-Key", UUID().uuidString), ("X-User", "load")]
        let (answer, attempts) = await client.insist(
            .POST, "/restaurants/\(restaurant)/reviews", headers, body: body)
        timings.failures += attempts - 1
        guard answer.status == 201 else {
            throw ServerProcess.Failure(
                description:
                    "A new review was answered with \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
        }
        return try answer.decoded(Review.self).number
    }

    private func read() async -> Bool {
        let path =
            switch Int.random(in: 0..<10) {
            case 0..<6: ledger.someReview.map { "/reviews/\($0)" } ?? "/ratings"
            case 6..<8: "/restaurants/\(Int.random(in: 1...Self.restaurants))/reviews?limit=20"
            case 8: "/restaurants/\(Int.random(in: 1...Self.restaurants))/rating"
            default: "/ratings"
            }
        guard let answer = await client.ask(.GET, path), answer.status < 500 else { return false }
        if answer.status != 200 { ledger.noteProblem("GET \(path) was answered with \(answer.status).") }
        return true
    }

    /// Counts one further in a review that many workers count in. Who comes second gets 412, and counts another time.
    private func increment() async -> Bool {
        guard let number = ledger.someCounter, let seen = await client.ask(.GET, "/reviews/\(number)"),
            seen.status == 200, let tag = seen.tag, let review = try? seen.decoded(Review.self),
            let count = Int(review.review.customerReview ?? "")
        else { return false }
        let answer = await client.ask(
            .PATCH, "/reviews/\(number)", [("If-Match", tag), ("X-User", "load")],
            body: #"{"customerReview":"\#(count + 1)"}"#)
        switch answer?.status {
        case 200: ledger.noteCounter(number) { $0.acknowledged += 1 }
        case 412: break
        case nil, 503: ledger.noteCounter(number) { $0.unknown += 1 }
        case let status?: ledger.noteProblem("A change was answered with \(status).")
        }
        return answer?.status == 200 || answer?.status == 412
    }
}
