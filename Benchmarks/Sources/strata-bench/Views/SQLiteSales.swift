import Foundation

/// Sales in SQLite, with triggers that keep a table of the shops or without them.
final class SQLiteSales {
    private let database: SQLiteDatabase
    private let add, raising, one, best, every, larger: SQLiteDatabase.Statement?

    init(path: String, keepsShops: Bool, isOrdered: Bool = false) throws {
        database = try SQLiteDatabase(path: path)
        try database.run(
            """
            CREATE TABLE sale (
                id INTEGER PRIMARY KEY, shop INTEGER NOT NULL, amount INTEGER NOT NULL, weight REAL NOT NULL,
                day INTEGER NOT NULL, stars INTEGER NOT NULL);
            CREATE TABLE shops (
                shop INTEGER PRIMARY KEY, sales INTEGER NOT NULL, amount INTEGER NOT NULL, weight REAL NOT NULL,
                first INTEGER NOT NULL, best INTEGER NOT NULL);
            """)
        if isOrdered { try database.run("CREATE INDEX shops_amount ON shops (amount)") }
        if keepsShops {
            try database.run(
                """
                CREATE TRIGGER added AFTER INSERT ON sale BEGIN
                    INSERT INTO shops VALUES (new.shop, 1, new.amount, new.weight, new.day, new.stars)
                    ON CONFLICT (shop) DO UPDATE SET
                        sales = sales + 1, amount = amount + excluded.amount, weight = weight + excluded.weight,
                        first = min(first, excluded.first), best = max(best, excluded.best);
                END;
                CREATE TRIGGER raised AFTER UPDATE OF amount ON sale BEGIN
                    UPDATE shops SET amount = amount - old.amount + new.amount WHERE shop = new.shop;
                END;
                """)
        }
        add = try database.prepare("INSERT INTO sale VALUES (NULL, ?, ?, ?, ?, ?)")
        raising = try database.prepare("UPDATE sale SET amount = amount + 1 WHERE id = ?")
        one = try database.prepare("SELECT amount, sales, weight, first, best FROM shops WHERE shop = ?")
        best = try database.prepare(
            "SELECT amount, shop, sales, weight, first, best FROM shops ORDER BY amount DESC LIMIT ?")
        larger = try database.prepare(
            "SELECT count(*) FROM shops WHERE amount > (SELECT amount FROM shops WHERE shop = ?)")
        every = try database.prepare(
            "SELECT sum(amount), count(*), sum(weight), min(day), max(stars) FROM sale GROUP BY shop ORDER BY shop")
    }

    func insert(_ rows: ArraySlice<SaleRow>) throws {
        try database.run("BEGIN IMMEDIATE")
        for row in rows {
            add?.bind(1, row.shop)
            add?.bind(2, row.amount)
            add?.bind(3, row.weight)
            add?.bind(4, row.day)
            add?.bind(5, row.stars)
            try add?.forEach { _ in }
        }
        try database.run("COMMIT")
    }

    func raise(_ numbers: [Int]) throws {
        try database.run("BEGIN IMMEDIATE")
        for number in numbers {
            raising?.bind(1, number + 1)
            try raising?.forEach { _ in }
        }
        try database.run("COMMIT")
    }

    func amount(ofShop shop: Int) throws -> Int {
        one?.bind(1, shop)
        var amount = 0
        try one?.forEach { amount = $0.integer(0) &+ doNothing($0.integer(1), $0.integer(3)) * 0 }
        return amount
    }

    func top(_ count: Int) throws -> [Int] {
        best?.bind(1, count)
        var amounts: [Int] = []
        try best?.forEach { amounts.append($0.integer(0)) }
        return amounts
    }

    /// How many shops have a larger sum.
    func rank(ofShop shop: Int) throws -> Int {
        larger?.bind(1, shop)
        var rank = 0
        try larger?.forEach { rank = $0.integer(0) }
        return rank
    }

    func computed() throws -> [Int] {
        var amounts: [Int] = []
        try every?.forEach { amounts.append($0.integer(0)) }
        return amounts
    }
}
