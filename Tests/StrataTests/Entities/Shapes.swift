import Strata

/// Relationships of every shape.
@Entity final class Node: ManagedObject {
    var name: String = ""
    var parent: Node?
    @Relationship(deleteRule: .cascade, inverse: \Node.parent, .ordered) var children: ToMany<Node>
}

@Entity final class Song: ManagedObject {
    var title: String = ""
    @Relationship(inverse: \Playlist.songs) var playlists: ToMany<Playlist>
}

@Entity final class Playlist: ManagedObject {
    @Relationship(.ordered) var songs: ToMany<Song>
    @Relationship(.noInverse) var cover: Song?
}

// A ring of three.
@Entity final class Rock: ManagedObject {
    var scissors: Scissors?
    @Relationship(inverse: \Paper.rock) var paper: Paper?
}

@Entity final class Scissors: ManagedObject {
    var paper: Paper?
    @Relationship(inverse: \Rock.scissors) var rock: Rock?
}

@Entity final class Paper: ManagedObject {
    var rock: Rock?
    @Relationship(inverse: \Scissors.paper) var scissors: Scissors?
}

enum Cinema {
    @Entity final class Hall: ManagedObject {
        var number: Int = 1
        var seats: ToMany<Seat>
    }

    @Entity final class Seat: ManagedObject {
        @Relationship(.required, inverse: \Hall.seats) var hall: Hall?
    }
}
