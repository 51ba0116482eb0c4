import Foundation
import Glibc
import StrataTestSupport

/// A TCP port on this machine behind which a server on a Unix socket is, over a connection that can be bad.
///
/// Threads carry the bytes; `lock` guards the variables.
final class TestProxy: BadWay, @unchecked Sendable {
    private var port = 0
    private let server: String
    private let listener: Int32
    private let lock = NSLock()
    private var current = Weather.fine
    private var isClosed = false
    private var random: SeededGenerator

    /// - Parameter server: the path of the socket.
    init(to server: String, random: SeededGenerator) throws {
        self.server = server
        self.random = random
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) | listen(listener, 64) | getsockname(listener, address, &size)
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in accept() }
    }

    var address: String {
        "postgresql://127.0.0.1:\(port)/postgres?user=strata&sslmode=disable&gssencmode=disable"
    }

    var launcher: [String] { [] }

    var weather: Weather {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }

    func close() {
        lock.withLock { isClosed = true }
        _ = shutdown(listener, Int32(SHUT_RDWR))
        _ = Glibc.close(listener)
    }

    private var isOver: Bool { lock.withLock { isClosed } }

    private func pause() {
        usleep(lock.withLock { UInt32.random(in: 1_000...30_000, using: &random) })
    }

    private func accept() {
        while !isOver {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let upstream = weather == .cut ? -1 : connect()
            guard upstream >= 0 else {
                _ = Glibc.close(client)
                continue
            }
            let link = Link(client, upstream)
            Thread.detachNewThread { [self] in carry(link, isUp: true) }
            Thread.detachNewThread { [self] in carry(link, isUp: false) }
        }
    }

    private func connect() -> Int32 {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(server.utf8).prefix(107)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return made }
        _ = Glibc.close(made)
        return -1
    }

    /// A client and its server. The descriptors are closed with the last thread that carries.
    private final class Link: @unchecked Sendable {
        let client: Int32
        let server: Int32
        private let lock = NSLock()
        private var said: [UInt8] = []
        private var hasLost = false

        init(_ client: Int32, _ server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            _ = Glibc.close(client)
            _ = Glibc.close(server)
        }

        func end() {
            _ = shutdown(client, Int32(SHUT_RDWR))
            _ = shutdown(server, Int32(SHUT_RDWR))
        }

        func note(_ bytes: ArraySlice<UInt8>) { lock.withLock { said += bytes } }
        var allSaid: [UInt8] { lock.withLock { said } }
        func lose() { lock.withLock { hasLost = true } }
        var hasLostSomething: Bool { lock.withLock { hasLost } }
    }

    private func carry(_ link: Link, isUp: Bool) {
        let (from, to) = isUp ? (link.client, link.server) : (link.server, link.client)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        defer { link.end() }
        while !isOver {
            var descriptor = pollfd(fd: from, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, 5)
            let weather = weather
            if weather == .cut || link.hasLostSomething && weather != .deaf { return }
            guard ready > 0 else { continue }
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            if isUp { link.note(buffer[..<count]) }
            guard pass(buffer[..<count], to, link, isUp: isUp) else { return }
        }
    }

    private func pass(_ bytes: ArraySlice<UInt8>, _ to: Int32, _ link: Link, isUp: Bool) -> Bool {
        switch weather {
        case .cut: return false
        case .slow: pause()
        case .frozen: while weather == .frozen, !isOver { usleep(2_000) }
        case .deaf:
            if !isUp {
                link.lose()
                return true
            }
        case .doubled: if isUp { sayAgain(link.allSaid) }
        case .fine: break
        }
        return Self.write(bytes, to)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, _ to: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says it to the server on another connection, before or after the first one, and does not listen.
    private func sayAgain(_ bytes: [UInt8]) {
        let isFirst = lock.withLock { Bool.random(using: &random) }
        let again = connect()
        guard again >= 0 else { return }
        Thread.detachNewThread { [self] in
            if !isFirst { pause() }
            _ = Self.write(bytes[...], again)
            usleep(100_000)
            _ = Glibc.close(again)
        }
        if isFirst { pause() }
    }
}
