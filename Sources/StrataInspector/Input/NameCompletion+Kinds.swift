import ArgumentParser

extension CompletionKind {
    /// Names of entities of the store on the command line.
    static let entityNames = CompletionKind.custom { words, _, _ in NameCompletion.entities(in: words) }

    /// Key paths of the entity on the command line.
    static let keyPaths = CompletionKind.custom { words, _, word in
        NameCompletion.keyPaths(in: words, completing: word)
    }
}
