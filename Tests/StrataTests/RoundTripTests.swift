import Foundation
import Observation
import Strata
import Synchronization
import Testing

/// Objects of classes made by the macros, saved and read in another context.
@Suite struct RoundTripTests {
    @Test func aMovieAndItsOwnerComeBack() throws {
        let container = try makeOpenContainer([Movie.self, FamilyMember.self])
        let context = container.newBackgroundContext()
        let ann = FamilyMember(context: context)
        ann.name = "Ann"
        let movie = Movie(context: context)
        movie.title = "Stalker"
        #expect(movie.rating == 0)
        movie.rating = 4.5
        movie.familyMember = ann
        #expect(ann.favoriteMovies.contains(movie))
        try context.save()

        let other = container.newBackgroundContext()
        let read = try #require(try other.fetch(FetchRequest<Movie>()).first)
        #expect(read !== movie && read.title == "Stalker" && read.rating == 4.5)
        #expect(read.familyMember?.name == "Ann")
        #expect(read.familyMember?.favoriteMovies.first === read)
        read.familyMember.map(other.delete)
        try other.save()
        #expect(try other.count(for: FetchRequest<Movie>()) == 0)
    }

    @Test func newObjectsHaveTheDeclaredValues() throws {
        let kinds = Kinds(context: try makeOpenContainer().newBackgroundContext())
        #expect(kinds.text == "none" && kinds.flag && kinds.small == -16 && kinds.plain == 1_000)
        #expect(kinds.money == 1.25 && kinds.data == Data([1, 2, 3]) && kinds.mood == .calm)
        #expect(kinds.moodOrNil == nil && kinds.priority == .high && kinds.place == Place(street: "Main"))
        #expect(kinds.placeOrNil == nil && kinds.words == ["a", "b"] && kinds.spelledOut == 3)
        #expect(kinds.unwrapped == nil && !kinds.default && kinds.internal == nil && kinds.scratch == nil)
        #expect(kinds.outside == 7 && kinds.expensive == "made once")
    }

    @Test func everyKindComesBackAsItWas() throws {
        let container = try makeOpenContainer()
        let context = container.newBackgroundContext()
        let kinds = Kinds(context: context)
        let (uuid, url) = (UUID(), try #require(URL(string: "https://example.org/tie")))
        kinds.text = "a text that is longer than fifteen bytes"
        kinds.flag = false
        kinds.single = 1.5
        kinds.money = -3.75
        kinds.uuid = uuid
        kinds.url = url
        kinds.data = Data(repeating: 7, count: 100)
        kinds.reference = kinds.objectID
        kinds.mood = .wild
        kinds.moodOrNil = .calm
        kinds.priority = nil
        kinds.place.floor = 3
        kinds.placeOrNil = Place(street: "Side")
        kinds.words.append("c")
        kinds.spelledOut = nil
        kinds.unwrapped = "set"
        kinds.default = true
        kinds.internal = 5
        kinds.hidden = "secret"
        kinds.scratch = Scratch()
        kinds.outside = 8
        kinds.count()
        try context.save()

        let other = container.newBackgroundContext()
        let read = try other.existingObject(with: kinds.objectID, as: Kinds.self)
        #expect(read.text == kinds.text && !read.flag && read.single == 1.5 && read.money == -3.75)
        #expect(read.uuid == uuid && read.url == url && read.data == kinds.data)
        #expect(read.reference == kinds.objectID && read.mood == .wild && read.moodOrNil == .calm)
        #expect(read.priority == nil && read.place == Place(street: "Main", floor: 3))
        #expect(read.placeOrNil == Place(street: "Side") && read.words == ["a", "b", "c"])
        #expect(read.spelledOut == nil && read.unwrapped == "set" && read.default && read.internal == 5)
        #expect(read.hidden == "secret" && read.counter == 1 && read.shout == kinds.text.uppercased())
        #expect(read.scratch == nil && read.outside == 7)
    }

    @Test func transformablesComeBackThroughTheirTransformer() throws {
        let container = try makeOpenContainer()
        let context = container.newBackgroundContext()
        let tie = BowTie(name: "Red", context: context)
        tie.tintColor = TieColor(red: 1, green: 0.5, blue: 0)
        tie.photoData = Data(repeating: 1, count: 200_000)
        try context.save()
        let other = container.newBackgroundContext()
        let read = try other.existingObject(with: tie.objectID, as: BowTie.self)
        #expect(read.tintColor == TieColor(red: 1, green: 0.5, blue: 0))
        #expect(read.photoData == tie.photoData)
        #expect(read.id == tie.id && read.name == "Red")
    }

    @Test func aRatingBeyondTheRangeIsRefused() throws {
        let context = try makeOpenContainer().newBackgroundContext()
        let tie = BowTie(name: "Blue", context: context)
        tie.rating = 6
        let error = #expect(throws: StrataError.self) { try context.save() }
        #expect(error?.code == .validationNumberTooLarge && error?.message == "rating is too large.")
        #expect(error?.context.key == "rating" && error?.context.objectID == tie.objectID)
    }

    @Test func inheritedAndOwnPropertiesShareNoSlot() throws {
        let container = try makeOpenContainer()
        let context = container.newBackgroundContext()
        let boss = Manager(context: context)
        boss.firstName = "Ada"
        boss.lastName = "L"
        boss.nickname = "ada"
        boss.salary = 5_000
        let worker = Employee(context: context)
        worker.firstName = "Bob"
        worker.lastName = "M"
        worker.manager = boss
        #expect(boss.title == "Manager" && worker.salary == 1_000 && Array(boss.reports) == [worker])
        try context.save()
        let other = container.newBackgroundContext()
        let read = try other.existingObject(with: boss.objectID, as: Manager.self)
        #expect(read.firstName == "Ada" && read.lastName == "L" && read.nickname == "ada" && read.salary == 5_000)
        #expect(read.title == "Manager" && read.reports.map(\.firstName) == ["Bob"])
        #expect(read.reports.first?.manager === read)
        #expect(try other.count(for: FetchRequest<Person>()) == 2)
    }

    @Test func relationshipsOfEveryShapeComeBack() throws {
        let container = try makeOpenContainer()
        let context = container.newBackgroundContext()
        let root = Node(context: context)
        let children = (0..<3).map { number in
            let node = Node(context: context)
            node.name = "\(number)"
            return node
        }
        root.children = ToMany([children[2], children[0], children[1]])
        let (song, list) = (Song(context: context), Playlist(context: context))
        song.playlists.insert(list)
        list.cover = song
        let (rock, paper, scissors) = (Rock(context: context), Paper(context: context), Scissors(context: context))
        rock.scissors = scissors
        scissors.paper = paper
        paper.rock = rock
        #expect(rock.paper === paper && scissors.rock === rock && paper.scissors === scissors)
        try context.save()

        let other = container.newBackgroundContext()
        let readRoot = try other.existingObject(with: root.objectID, as: Node.self)
        #expect(readRoot.children.map(\.name) == ["2", "0", "1"])
        #expect(readRoot.children.allSatisfy { $0.parent === readRoot })
        let readList = try other.existingObject(with: list.objectID, as: Playlist.self)
        #expect(readList.songs.first?.objectID == song.objectID && readList.cover === readList.songs.first)
        let readRock = try other.existingObject(with: rock.objectID, as: Rock.self)
        #expect(readRock.scissors?.paper?.rock === readRock)
    }

    @Test func keysReachWhatTheVariablesDeclare() throws {
        let kinds = Kinds(context: try makeOpenContainer().newBackgroundContext())
        try kinds.setValue("by key", forKey: "text")
        try kinds.setValue(true, forKey: "default")
        #expect(kinds.text == "by key" && kinds.default)
        #expect(
            try kinds.value(forKey: "plain") as? Int64 == 1_000 || (try kinds.value(forKey: "plain") as? Int) == 1_000)
    }

    @MainActor @Test func observersHearOfInheritedAndOwnProperties() throws {
        let boss = Manager(context: try makeOpenContainer().viewContext)
        for change in [{ boss.firstName = "Ada" }, { boss.salary = 1 }, { boss.title = "Head" }] {
            let heard = Mutex(false)
            withObservationTracking {
                _ = (boss as Person).firstName
                _ = (boss as Employee).salary
                _ = boss.title
            } onChange: {
                heard.withLock { $0 = true }
            }
            change()
            #expect(heard.withLock { $0 })
        }
    }
}
