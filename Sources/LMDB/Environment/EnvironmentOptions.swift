/// Options for opening an environment. The defaults fit a durable store in a private directory of a local disk.
package struct EnvironmentOptions: Sendable, Equatable {
    /// Whether the environment may write, and whether it may make missing files.
    package enum Access: Sendable, Equatable {
        /// No write transaction can begin and no byte of `data.mdb` changes.
        case readOnly
        /// Reads and writes; with `create` a missing directory or data file is made.
        case readWrite(create: Bool)
    }

    /// The failures that a returned commit survives.
    package enum Durability: Sendable, Equatable {
        /// Power loss.
        case full
        /// Power loss may take the last commits; the file stays sound.
        case relaxed
        /// The end of the process. Power loss takes the file back to its last checkpoint (`keepCheckpoints`).
        case checkpointed
        /// Power loss: a commit is in the journal, or a checkpoint is made of it (`Environment+Journal`).
        case journaled
        /// The end of the process only: after power loss the file may be damaged.
        case disposable

        /// Whether power loss takes the file back to a checkpoint.
        var hasCheckpoints: Bool { self == .checkpointed || self == .journaled }
    }

    /// Whether the files keep their names.
    package enum Residence: Sendable, Equatable {
        /// The files stay in the directory.
        case named
        /// The names are removed right after opening, so that no file is left, however the process ends.
        /// The directory must not hold a store, and is removed as well if this call made it.
        case unlinkedAfterOpen
    }

    /// Whether a network or user-space file system is accepted.
    package enum NetworkFileSystems: Sendable, Equatable {
        /// Opening there is refused: locks and shared maps are unreliable.
        case refused
        /// The caller knows that only one host uses the files.
        case accepted
    }

    /// Whether LMDB's reader table and writer mutex are used.
    package enum LockFileUse: Sendable, Equatable {
        /// Safe beside other processes.
        case shared
        /// No lock file is opened. Only for reading files that no process writes.
        case none
    }

    /// Whether pages are compared with their sums.
    package enum SumUse: Sendable, Equatable {
        /// A page that is not the one that was written is refused.
        case compared
        /// Pages are judged by their structure alone: for saving the rest of a damaged file.
        case ignored
    }

    /// Whether the environment may write.
    package var access = Access.readWrite(create: true)
    /// The failures that a returned commit survives.
    package var durability = Durability.full
    /// Whether the files keep their names.
    package var residence = Residence.named
    /// Whether a data file that is there becomes that of a store without a name.
    package var takesOverFile = false
    /// The users whose files may be opened.
    package var ownership = FileOwnership.privateOnly
    /// Whether a network file system is accepted.
    package var networkFileSystems = NetworkFileSystems.refused
    /// Whether a reader refuses a file that a writer has to take to its newest state first.
    package var refusesUnrestored = true
    /// Whether the lock file is used.
    package var locking = LockFileUse.shared
    /// Whether pages are compared with their sums; without that the environment should not write.
    package var sums = SumUse.compared
    /// Address space to reserve, in bytes; it costs no disk and no memory. Less is taken where other stores of the
    /// process have taken much (`AddressSpace`), or the system does not grant it.
    package var mapSizeInBytes = 256 << 30
    /// The map never grows beyond this, in bytes.
    package var maximumMapSizeInBytes = 1 << 42
    /// The map grows by at least this, in bytes, and by its own size if that is more. Zero means doubling.
    package var growthStepInBytes = 0
    /// The number of named tables that can be opened.
    package var maximumTables = 64
    /// The number of values that are read sparingly after the opening (`ReadTransaction.find`).
    package var sparingReads = 1024
    /// The number of reader slots; the first process that opens a store decides.
    package var maximumReaders = 510
    /// The time that a write waits for other writers before it throws `busy`.
    package var writerLockTimeout = Duration.seconds(10)
    /// The time that an opening waits for a process that makes the store's files, replaces them, or opens them first,
    /// before it throws `busy`.
    package var openingTimeout = Duration.seconds(20)
    /// The time that growing, reopening and closing wait for open transactions before they throw `busy`.
    package var drainTimeout = Duration.seconds(5)

    /// The default options.
    package init() {}

    var isReadOnly: Bool { access == .readOnly }

    var mayCreate: Bool { access == .readWrite(create: true) }

    /// Whether an environment opened with `self` can also serve a caller that asks for `other`.
    func serves(_ other: EnvironmentOptions) -> Bool {
        guard residence == other.residence, locking == other.locking, sums == other.sums || sums == .compared else {
            return false
        }
        if other.isReadOnly { return true }
        return !isReadOnly && durability == other.durability
    }
}
