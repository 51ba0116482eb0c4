/// The tables of the peers that use SQLite: with Strata's indexes, and foreign keys.
enum MovieSchema {
    /// - Parameter folded: whether a column has the folded title, for `CONTAINS[cd]`.
    static func sql(folded: Bool = false) -> String {
        """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE movie (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER NOT NULL, rating REAL NOT NULL,
            genre TEXT NOT NULL, votes INTEGER NOT NULL, owner INTEGER REFERENCES owner (id) ON DELETE CASCADE
            \(folded ? ", folded TEXT NOT NULL" : ""));
        CREATE INDEX owner_name ON owner (name);
        CREATE INDEX movie_title ON movie (title);
        CREATE INDEX movie_year ON movie (year);
        CREATE INDEX movie_rating ON movie (rating);
        CREATE INDEX movie_owner ON movie (owner);
        """
    }

    static let insertOwner = "INSERT INTO owner VALUES (?, ?)"
    static func insertMovie(folded: Bool = false) -> String {
        "INSERT INTO movie VALUES (?, ?, ?, ?, ?, ?, ?\(folded ? ", ?" : ""))"
    }
    static let columns = "id, title, year, rating, genre, votes, owner"
    static let yearOfMovie = "SELECT year FROM movie WHERE id = ?"
    static let yearsOfOwner = "SELECT year FROM movie WHERE owner = ?"
    static let range = "SELECT \(columns) FROM movie WHERE rating >= ? ORDER BY rating LIMIT 100"
    static let count = "SELECT count(*) FROM movie WHERE votes > ?"
    static let update = "UPDATE movie SET rating = ? WHERE id = ?"
    static let deleteOwner = "DELETE FROM owner WHERE id = ?"
    /// The value of `digest` for every movie.
    static let summary = [
        "SELECT count(*) FROM movie", "SELECT count(*) FROM owner",
        """
        SELECT sum(length(CAST(title AS BLOB)) * 31 + year * 7 + CAST(rating * 1000000 AS INTEGER)
            + length(genre) * 131 + votes * 3) FROM movie
        """,
    ]
}
