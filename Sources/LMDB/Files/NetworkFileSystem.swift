import CLMDB

/// The file systems on which locks or shared maps are unreliable, and the check that refuses them.
enum NetworkFileSystem {
    /// The `f_type` numbers of statfs(2): network, cluster and user-space file systems.
    private static let magicNumbers: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x6573_5546: "FUSE",
        0x0102_1997: "9p", 0x7375_7245: "Coda", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph",
        0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0x7461_636F: "OCFS2", 0x0116_1970: "GFS2",
        0x786F_4256: "vboxsf", 0x564C: "NCP",
    ]

    /// The name of the network file system with this number, or nil for a local one.
    static func name(forType type: UInt32) -> String? {
        magicNumbers[type]
    }

    /// Refuses a directory on a network file system.
    static func check(_ directory: EnvironmentDirectory) throws(LMDBError) {
        let type = clmdb_file_system_type(directory.descriptor)
        guard type >= 0 else { throw SystemError.current("look at the file system", directory.path) }
        #if os(Linux)
            let found = name(forType: UInt32(truncatingIfNeeded: type))
        #else
            let found = type == 0 ? nil : "not local"
        #endif
        if let found {
            throw LMDBError(
                .networkFileSystem, operation: "open the store directory", path: directory.path, detail: found)
        }
    }
}
