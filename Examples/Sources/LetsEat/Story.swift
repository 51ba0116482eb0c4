import Foundation
import Strata

/// The story in six steps; each prints what it does.
struct Story {
    private let container: PersistentContainer
    private let guestbook: Guestbook
    private let sample: SampleData

    init(_ container: PersistentContainer, _ sample: SampleData) {
        self.container = container
        self.sample = sample
        guestbook = Guestbook(context: container.newBackgroundContext())
    }

    func tell() async throws {
        try addAndSave()
        let reviews = try fetchReviews()
        await copy(reviews)
        try fetchPhotos()
        try refuse()
        try fetchRatings()
        goodbye()
    }

    private func title(_ number: Int, _ text: String) { print("\n\(number). \(text)") }

    private func addAndSave() throws {
        title(1, "Adding reviews and photos, and saving only when there are changes")
        let added = try sample.addMissing(to: guestbook)
        print("   Added \(added.reviews) reviews and \(added.photos) photos.")
        for _ in 1...2 {
            let hadChanges = try guestbook.saveIfNeeded()
            print(
                hadChanges
                    ? "   There were changes: saved, and the log ends at \(try container.head())."
                    : "   There are no changes: nothing saved, the log still ends at \(try container.head()).")
        }
    }

    private func fetchReviews() throws -> [ReviewItem] {
        title(2, "fetchReviews(by: 17), newest first")
        let reviews = try guestbook.fetchReviews(by: 17)
        for review in reviews {
            let date = review.date.map { $0.formatted(.iso8601.year().month().day()) } ?? "some day"
            print("   \(date)  \(review.rating)  \(review.name ?? "?"): \(review.customerReview ?? "")")
        }
        return reviews
    }

    private func copy(_ reviews: [ReviewItem]) async {
        title(3, "The values are copies in plain structs")
        // Objects and contexts cannot be sent to the task; structs can.
        let mean = await Task.detached { reviews.map(\.rating).reduce(0, +) / Float(max(reviews.count, 1)) }.value
        print("   A task without a context computes their mean: \(mean)")
        guard var copy = reviews.first else { return }
        copy.customerReview = "Better than I first wrote."
        print("   One was rewritten; objects with changes in the context: \(guestbook.context.updatedObjects.count)")
    }

    private func fetchPhotos() throws {
        title(4, "fetchPhotos(by: 17), newest first")
        for photo in try guestbook.fetchPhotos(by: 17) {
            let date = photo.date.map { $0.formatted(.iso8601.year().month().day()) } ?? "some day"
            print("   \(date)  \(photo.photo?.count ?? 0) bytes")
        }
    }

    private func refuse() throws {
        title(5, "A review without its uuid, which is not optional")
        let review = Review(context: guestbook.context)
        review.restaurantID = 17
        do {
            print("   Saved: \(try guestbook.saveIfNeeded()), and should not have been.")
        } catch let error as StrataError {
            print("   Refused with code \(error.code.rawValue): \(error.message)")
            guestbook.context.rollback()
            print("   After rollback there are changes: \(guestbook.context.hasChanges ? "yes" : "no")")
        }
    }

    private func fetchRatings() throws {
        title(6, "The best rated restaurants, from a view that the store keeps")
        for rating in try guestbook.fetchBest(2) {
            print("   restaurant \(rating.restaurantID): \(rating.average) in \(rating.reviews) reviews")
        }
        guard let rating = try guestbook.fetchRatings(of: 17) else { return }
        print("   fetchRatings(of: 17): \(rating.average) in \(rating.reviews) reviews")
    }

    private func goodbye() {
        guard let path = container.storeURL?.path else { return }
        print("\nThe store stays here: \(path)\nTo see who wrote what: bin/strata log \(path)")
    }
}
