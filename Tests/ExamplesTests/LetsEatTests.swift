import Foundation
import Strata
import StrataTestSupport
import Testing

@testable import LetsEatParts

/// LetsEat: `fetchReviews(by:)` newest first, saving only when there are changes, values copied into plain structs.
@Suite struct LetsEatTests {
    @Test func theStoryIsToldOnANewStore() throws {
        let run = ExampleRun("LetsEat")
        let steps = try run.tell()
        #expect(
            steps[1] == [
                "Added 7 reviews and 3 photos.", "There were changes: saved, and the log ends at 11.",
                "There are no changes: nothing saved, the log still ends at 11.",
            ])
        #expect(
            steps[2] == [
                "2025-09-21  5.0  Adaeze: They remembered my name, and the dumplings.",
                "2025-07-30  3.5  Tomasz: Fine fish; bring a jumper for the terrace.",
                "2025-06-02  3.0  Joris: Good lunch, slow coffee.",
                "2025-03-14  4.5  Mira: The soup tastes like my grandmother's, only warmer.",
            ])
        #expect(
            steps[3] == [
                "A task without a context computes their mean: 4.0",
                "One was rewritten; objects with changes in the context: 0",
            ])
        #expect(steps[4] == ["2025-07-30  4187 bytes", "2025-03-14  1833 bytes"])
        #expect(
            steps[5]?.prefix(2) == [
                "Refused with code 1570: uuid is required.", "After rollback there are changes: no",
            ])
        #expect(
            steps[6]?.prefix(3) == [
                "restaurant 42: 5.0 in 1 reviews", "restaurant 17: 4.0 in 4 reviews",
                "fetchRatings(of: 17): 4.0 in 4 reviews",
            ])
        #expect(try run.strata("verify").exitCode == 0)
    }

    @Test func ratingsAreThoseOfTheReviews() throws {
        let (container, guestbook) = try guestbook()
        defer { container.close() }
        for (number, rating) in [Float(4), 1, 2.5, 5].enumerated() {
            guestbook.add(
                ReviewItem(
                    uuid: "\(number)", restaurantID: number < 3 ? 1 : 2, date: nil, name: nil, rating: rating,
                    customerReview: nil))
        }
        let both = [
            Ratings(restaurantID: 2, reviews: 1, average: 5), Ratings(restaurantID: 1, reviews: 3, average: 2.5),
        ]
        #expect(try guestbook.fetchBest(5) == both)
        #expect(try guestbook.saveIfNeeded())
        #expect(try guestbook.fetchBest(5) == both && guestbook.fetchBest(1) == [both[0]])
        #expect(try guestbook.fetchRatings(of: 1) == both[1] && guestbook.fetchRatings(of: 3) == nil)
    }

    @Test func aSecondRunFindsEverythingThere() throws {
        let run = ExampleRun("LetsEat")
        let first = try run.tell()
        let second = try run.tell()
        #expect(
            second[1] == [
                "Added 0 reviews and 0 photos.", "There are no changes: nothing saved, the log still ends at 11.",
                "There are no changes: nothing saved, the log still ends at 11.",
            ])
        #expect(second[2] == first[2] && second[4] == first[4])
    }

    private func guestbook() throws -> (PersistentContainer, Guestbook) {
        let container = try PersistentContainer(
            name: "LetsEat", entities: [Review.self, RestaurantPhoto.self], views: [Ratings.view], at: .inMemory)
        try container.loadPersistentStores()
        return (container, Guestbook(context: container.newBackgroundContext()))
    }

    @Test func reviewsComeNewestFirstAndOfOneRestaurantOnly() throws {
        let (container, guestbook) = try guestbook()
        defer { container.close() }
        for (number, restaurant) in [Int32(1), 2, 1, 1, 2].enumerated() {
            guestbook.add(
                ReviewItem(
                    uuid: "\(number)", restaurantID: restaurant, date: Date(timeIntervalSince1970: Double(number % 4)),
                    name: nil, rating: 4, customerReview: nil))
        }
        #expect(try guestbook.fetchReviews(by: 1).map(\.uuid) == ["3", "2", "0"])
        #expect(try guestbook.saveIfNeeded())
        #expect(try guestbook.fetchReviews(by: 1).map(\.uuid) == ["3", "2", "0"])
        #expect(try guestbook.fetchReviews(by: 3) == [])
    }

    @Test func nothingIsWrittenWithoutChanges() throws {
        let (container, guestbook) = try guestbook()
        defer { container.close() }
        let head = try container.head()
        #expect(try !guestbook.saveIfNeeded())
        #expect(try container.head() == head)
        guestbook.add(PhotoItem(uuid: "a", restaurantID: 1, date: nil, photo: Data([1])))
        #expect(try guestbook.saveIfNeeded() && container.head() > head)
    }
}
