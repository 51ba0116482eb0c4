import Foundation

/// What happens to what goes from a store to its server and back.
enum Weather: Sendable, Hashable, CaseIterable {
    case fine
    /// Everything comes some milliseconds later.
    case slow
    /// Connections end, and new ones are refused.
    case cut
    /// Nothing comes, until the weather changes; then it comes late.
    case frozen
    /// The server gets everything, and its answers are lost. The connections end when the weather changes.
    case deaf
    /// All that a client has said is said again on another connection, as by a network that doubles packets.
    case doubled
}

/// The way from a store to its server, which can be bad.
protocol BadWay: AnyObject, Sendable {
    /// What libpq connects to.
    var address: String { get }
    /// The program that starts the store's process, with its arguments.
    var launcher: [String] { get }
    var weather: Weather { get set }
    func close()
}

/// A network of its own, as `Scripts/test-shared-network.sh` makes it: packets are lost. `lock` guards the weather.
final class NetworkWay: BadWay, @unchecked Sendable {
    private let networks: String
    private let number: Int
    private let lock = NSLock()
    private var current = Weather.fine

    init(_ networks: String, _ number: Int) {
        self.networks = networks
        self.number = number
    }

    var address: String { "postgresql://10.213.\(number).1/postgres?user=strata" }
    var launcher: [String] { ["/usr/bin/env", "ip", "netns", "exec", "\(networks)-\(number)"] }

    /// A cut link and a frozen one lose packets in both directions; TCP sends them again. Where the kernel has no netem,
    /// slow and doubled weather is fine.
    var weather: Weather {
        get { lock.withLock { current } }
        set {
            lock.withLock {
                let (server, link) = ("\(networks)-server", "\(networks)\(number)")
                ip("-n", server, "link", "set", link, newValue == .cut || newValue == .frozen ? "down" : "up")
                if current == .deaf { ip("-n", server, "route", "del", "prohibit", "10.213.\(number).2/32") }
                if newValue == .deaf { ip("-n", server, "route", "add", "prohibit", "10.213.\(number).2/32") }
                let quality = ["netns", "exec", server, "tc", "qdisc", "replace", "dev", link, "root"]
                switch newValue {
                case .slow: ip(quality + ["netem", "delay", "15ms", "14ms"])
                case .doubled: ip(quality + ["netem", "duplicate", "50%", "delay", "3ms", "reorder", "30%"])
                default: ip(quality + ["pfifo_fast"])
                }
                current = newValue
            }
        }
    }

    func close() { weather = .fine }

    private func ip(_ arguments: String...) { ip(arguments) }

    private func ip(_ arguments: [String]) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["ip"] + arguments
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
        } catch {
            fatalError("ip cannot be run: \(error)")
        }
    }
}
