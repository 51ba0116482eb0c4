import Foundation
import StrataGraph
import StrataModel
import Testing

/// The files of keys of subjects.
@Suite struct SubjectKeyDirectoryTests {
    private let folder: EncryptionFolder
    private let keys: SubjectKeyDirectory

    init() throws {
        folder = try EncryptionFolder()
        keys = try SubjectKeyDirectory(at: folder.url.appending(path: "keys", directoryHint: .isDirectory))
    }

    private func subject(_ number: Int) throws -> SubjectID {
        try #require(SubjectID(String(format: "%016lx%016lx", UInt64(number) &* 0x9E37_79B9_7F4A_7C15, number)))
    }

    private func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: keys.url, includingPropertiesForKeys: nil)
    }

    @Test func aKeyIsMadeOnceAndDestroyedForEver() throws {
        let subjects = try (0..<600).map(subject)
        #expect(try keys.key(of: subjects[0]) == nil)
        let made = try keys.makeKeys(of: subjects)
        #expect(Set(made).count == 600 && made.allSatisfy { $0.count == 32 })
        #expect(try keys.makeKeys(of: subjects.reversed()) == made.reversed())
        let again = try SubjectKeyDirectory(at: keys.url)
        #expect(try again.key(of: subjects[7]) == .key(made[7]))
        try again.destroyKeys(of: [subjects[7], subject(1000)])
        #expect(try keys.key(of: subjects[7]) == .destroyed && keys.key(of: subject(1000)) == .destroyed)
        #expect(thrownError { _ = try keys.makeKeys(of: subjects) }?.code == .subjectErased)
        #expect(thrownError { _ = try keys.makeKeys(of: [subject(1000)]) }?.code == .subjectErased)
        #expect(try keys.key(of: subjects[8]) == .key(made[8]))
        #expect(try keys.counts() == (keys: 599, destroyed: 2))
        for file in try files() { #expect(try Data(contentsOf: file).range(of: made[7]) == nil) }
    }

    @Test func onlyTheUserMayReadTheFiles() throws {
        _ = try keys.makeKeys(of: [subject(1)])
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(keys.url) == 0o700)
        for file in try files() { #expect(try mode(file) == 0o600) }
    }

    @Test func writersAtOnceGetTheSameKeys() async throws {
        let (subjects, url) = (try (0..<200).map(subject), keys.url)
        let all = try await withThrowingTaskGroup(of: [Data].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try SubjectKeyDirectory(at: url).makeKeys(of: subjects.shuffled()).sorted {
                        $0.lexicographicallyPrecedes($1)
                    }
                }
            }
            return try await group.reduce(into: Set<[Data]>()) { $0.insert($1) }
        }
        #expect(all.count == 1)
        #expect(try keys.counts().keys == 200)
    }

    @Test func aRecordThatWasCutShortIsWrittenAnew() throws {
        let key = try keys.makeKeys(of: [subject(1)])
        let file = try #require(try files().first)
        let whole = try Data(contentsOf: file)
        for count in [1, 24, 63] {
            try (whole + whole.prefix(count)).write(to: file)
            #expect(try keys.makeKeys(of: [subject(1)]) == key)
            let other = try #require(SubjectID(subject(1).description.prefix(31) + "f"))
            let made = try keys.makeKeys(of: [other])
            #expect(try keys.key(of: other) == .key(made[0]) && keys.key(of: subject(1)) == .key(key[0]))
            try whole.write(to: file)
        }
    }

    @Test func aDamagedKeyIsToldFromADestroyedOne() throws {
        _ = try keys.makeKeys(of: [subject(1)])
        let file = try #require(try files().first)
        let whole = try Data(contentsOf: file)
        for offset in 16..<whole.count {
            var bytes = whole
            bytes[offset] ^= 1
            try bytes.write(to: file)
            #expect(thrownError { _ = try keys.key(of: subject(1)) }?.code == .corrupt, "\(offset)")
        }
    }
}
