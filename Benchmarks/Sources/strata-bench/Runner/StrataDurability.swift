import ArgumentParser
import StrataGraph

/// How Strata's store survives power cuts. The peers stay as they are: each syncs every commit.
struct StrataDurability: ParsableArguments {
    @Flag(help: "Strata's saves are synced in a journal (durability `journaled`); the peers stay as they are.")
    var journaled = false

    var value: PersistentStoreDurability { journaled ? .journaled : .full }
}
