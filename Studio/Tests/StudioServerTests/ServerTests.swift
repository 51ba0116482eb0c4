import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServiceLifecycle
import StrataGraph
import StrataInspector
import Testing

@testable import StudioServer

/// What the server gives to whom, over a real connection.
@Suite struct ServerTests {
    private let store: SmallStore
    private let gate = StudioGate()

    init() throws { store = try SmallStore() }

    /// Runs `body` with the server on a free port.
    private func serving(
        _ path: String? = nil, _ gate: StudioGate? = nil, _ body: @Sendable (Visitor) async throws -> Void
    ) async throws {
        let gate = gate ?? self.gate
        let studio = try Studio(paths: [path ?? store.path])
        var logger = Logger(label: "studio-tests")
        logger.logLevel = .error
        let application = Application(responder: try StudioResponder(studio, gate), logger: logger)
        let token = try #require(gate.unusedToken)
        try await application.test(.live) { client in
            try await body(Visitor(port: try #require(client.port), token: token))
        }
        studio.close()
    }

    // MARK: Who may read

    @Test func theTokenIsGoodOnceAndGivesACookie() async throws {
        try await serving { visitor in
            let first = try await visitor.get("/?token=\(visitor.token)")
            #expect(first.status == .seeOther && first.headers[.location] == "/Small")
            let cookie = try #require(first.headers[.setCookie])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
            #expect(!cookie.contains(visitor.token))
            let second = try await visitor.get("/?token=\(visitor.token)")
            #expect(second.status == .unauthorized && second.headers[.setCookie] == nil)
        }
    }

    @Test(arguments: ["/", "/Small/model", "/Small/model.json", "/Small/model.svg", "/Small/live", "/-/studio.js"])
    func withoutTheCookieNothingIsShown(path: String) async throws {
        try await serving { visitor in
            for headers in [[:], [.cookie: "strata-studio=wrong"], [.cookie: "strata-studio="]] as [HTTPFields] {
                let answer = try await visitor.get(path, headers)
                #expect(answer.status == .unauthorized && !answer.text.contains("Film"))
            }
        }
    }

    @Test(arguments: ["/?token=", "/?token=0", "/?token", "/?TOKEN=x"])
    func aWrongTokenOpensNothing(path: String) async throws {
        try await serving { visitor in
            let wrong = try await visitor.get(path)
            #expect(wrong.status == .unauthorized)
            // It does not use up the right one.
            let right = try await visitor.get("/?token=\(visitor.token)")
            #expect(right.status == .seeOther)
        }
    }

    @Test(arguments: [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "127.0.0.2", "localhost:", "",
        "localhost:\u{661}",
    ]) func foreignNamesAreRefused(host: String) async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let headers: HTTPFields = [.cookie: cookie, .accept: "application/json"]
            let answer = try await visitor.get("/Small/model", headers, host: host)
            #expect(answer.status == .misdirectedRequest || answer.status == .badRequest)
            #expect(!answer.text.contains("Film"))
        }
    }

    @Test(arguments: ["127.0.0.1:80", "localhost", "LOCALHOST:1234", "[::1]:80"])
    func namesOfTheLoopbackAreTaken(host: String) async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let headers: HTTPFields = [.cookie: cookie, .accept: "application/json"]
            let answer = try await visitor.get("/Small/model", headers, host: host)
            #expect(answer.status == .ok && answer.text.contains("Film"))
        }
    }

    @Test(arguments: [("studio.example", "studio.example:80"), ("fd00::1", "[fd00::1]:80"), ("[fd00::1]", "[FD00::1]")])
    func theBoundNameIsTaken(name: String, host: String) async throws {
        try await serving(nil, StudioGate(boundName: name)) { visitor in
            let cookie = try await visitor.enter()
            let headers: HTTPFields = [.cookie: cookie, .accept: "application/json"]
            #expect(try await visitor.get("/Small/model", headers, host: host).status == .ok)
            let foreign = try await visitor.get("/Small/model", headers, host: "evil.example")
            #expect(
                foreign.status == .misdirectedRequest && foreign.text.contains("under \(StudioGate.host(name)) only"))
        }
    }

    @Test func anAddressOfAllInterfacesIsNoName() {
        for name in ["0.0.0.0", "::", "[::]", "*", ""] { #expect(!StudioGate.isName(name)) }
        for name in ["192.168.1.5", "::1", "db.example.org", "127.0.0.1"] { #expect(StudioGate.isName(name)) }
    }

    @Test func requestsOfOtherSitesAreRefused() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            func status(_ headers: HTTPFields) async throws -> HTTPResponse.Status {
                var headers = headers
                headers[.cookie] = cookie
                return try await visitor.get("/Small/model", headers).status
            }
            #expect(try await status([.origin: "https://evil.example"]) == .forbidden)
            #expect(try await status([.origin: "null"]) == .forbidden)
            #expect(try await status([.origin: "http://localhost:1"]) == .forbidden)
            #expect(try await status([.fetchSite: "cross-site", .fetchMode: "cors"]) == .forbidden)
            #expect(try await status([.fetchSite: "same-site", .fetchMode: "no-cors"]) == .forbidden)
            let frame: HTTPFields = [.fetchSite: "cross-site", .fetchMode: "navigate", .fetchDestination: "iframe"]
            #expect(try await status(frame) == .forbidden)
            #expect(try await status([.fetchSite: "same-origin"]) == .ok)
            #expect(try await status([.origin: "http://localhost"]) == .ok)
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .patch, .options])
    func onlyReadingIsPossible(method: HTTPRequest.Method) async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let answer = try await visitor.get("/Small/model", [.cookie: cookie], method: method)
            #expect(answer.status == .methodNotAllowed && answer.headers[.allow] == "GET, HEAD")
        }
    }

    // MARK: What is sent

    @Test func everyAnswerForbidsWhatAPageDoesNotNeed() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            for path in ["/", "/Small/model.json", "/Small/nothing.json", "/-/studio.js", "/-/nothing", "/?token=x"] {
                let headers = try await visitor.get(path, [.cookie: cookie, .accept: "text/html"]).headers
                let policy = try #require(headers[.contentSecurityPolicy])
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe") && !policy.contains("http"))
                #expect(headers[.xContentTypeOptions] == "nosniff")
                #expect(headers[.known("Referrer-Policy")] == "no-referrer")
            }
        }
    }

    @Test(arguments: [
        "/-/../Package.swift", "/-/%2e%2e/%2e%2e/Package.swift", "/-/..%2fstudio.js", "/-//etc/passwd", "/-/",
        "/-/%00studio.js", "/../../../etc/passwd", "/Small/../../etc/passwd", "/..%2f..%2fetc%2fpasswd",
    ]) func noPathReachesAFile(path: String) async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let answer = try await visitor.get(path, [.cookie: cookie])
            #expect(answer.status == .notFound, "\(answer.text.prefix(100))")
        }
    }

    @Test func anAddressThatCannotBeDecodedIsRefused() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            for path in ["/Small/%zz", "/Small/%ff/model", "/Small/model?at=%ff"] {
                #expect(try await visitor.get(path, [.cookie: cookie]).status == .badRequest)
            }
        }
    }

    @Test func aPageIsTheFrontEndForABrowserAndDataForAProgram() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let page = try await visitor.get("/Small/objects/Film", [.cookie: cookie, .accept: "text/html,*/*"])
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.text.contains("<strata-timeline") && !page.text.contains("script>alert"))
            for (ending, accept) in [("", "application/json"), (".json", "text/html")] {
                let data = try await visitor.get(
                    "/Small/objects/Film\(ending)", [.cookie: cookie, .accept: accept])
                #expect(data.headers[.contentType] == "application/json; charset=utf-8")
                #expect(data.text.contains("\"count\":3"))
            }
        }
    }

    @Test func parametersAreDecoded() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let path = "/Small/objects/Film.json?where=title+BEGINSWITH+%22%3Cscript%22&limit=1"
            let answer = try await visitor.get(path, [.cookie: cookie])
            #expect(answer.status == .ok && answer.text.contains("\"count\":1"))
        }
    }

    @Test func problemsHaveAStatusAndWords() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let answer = try await visitor.get("/Small/objects/Film.json?where=title+%3D", [.cookie: cookie])
            #expect(answer.status == .badRequest)
            #expect(answer.text.contains("\"field\":\"where\"") && answer.text.contains("\"column\":"))
        }
    }

    @Test func largeValuesAreSentWholeAsText() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let answer = try await visitor.get("/Small/value/Film/p2/title", [.cookie: cookie, .accept: "text/html"])
            #expect(answer.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(answer.text == SmallStore.hostile)
        }
    }

    @Test func tenMegabytesAreShownInPart() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            for path in ["objects/Film", "object/Film/p3", "transactions", "transaction/2", "facet/Film/title"] {
                let answer = try await visitor.get("/Small/\(path)", [.cookie: cookie])
                #expect(answer.status == .ok && answer.text.utf8.count < 20_000, "\(path)")
            }
            let file = try await visitor.get("/Small/export/Film?as=json", [.cookie: cookie])
            #expect(file.status == .ok && file.text.utf8.count > SmallStore.huge.utf8.count)
            #expect(file.headers[.contentDisposition] == "attachment; filename=\"Film.json\"")
        }
    }

    @Test func theFrontEndIsSmallAndLoadsNothingFromElsewhere() async throws {
        let files = try StaticFiles().files
        #expect(files["index.html"] != nil && files["studio.js"] != nil && files["studio.css"] != nil)
        #expect(files.values.reduce(0) { $0 + $1.content.count } < 200_000)
        for (name, file) in files {
            let text = String(decoding: file.content, as: UTF8.self)
                .replacing("http://www.w3.org/2000/svg", with: "")
            #expect(!text.contains("http://") && !text.contains("https://"), "\(name)")
            #expect(!text.contains("innerHTML") && !text.contains("eval(") && !text.contains("style="), "\(name)")
        }
    }

    @Test func thePageAsksForAllItsFilesAtOnceAndTheBrowserKeepsThem() async throws {
        let modules = try StaticFiles().files.keys.filter { $0.hasSuffix(".js") }
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let page = try await visitor.get("/", [.cookie: cookie, .accept: "text/html"])
            let folder = try #require(page.text.firstMatch(of: /"(\/-\/[0-9a-f]+)\/studio.css"/)?.1)
            for name in modules { #expect(page.text.contains("\"\(folder)/\(name)\""), "\(name)") }
            #expect(page.headers[values: .cacheControl] == ["no-store"])
            for (path, caching) in [folder: "private, max-age=31536000, immutable", "/-": "no-store"] {
                let path = "\(path)/dom.js"
                let file = try await visitor.get(path, [.cookie: cookie])
                #expect(file.status == .ok && file.headers[values: .cacheControl] == [caching])
                #expect(try await visitor.get(path, [:]).status == .unauthorized)
            }
            #expect(try await visitor.get("/-/0/dom.js", [.cookie: cookie]).status == .notFound)
        }
    }

    @Test(arguments: [1_000, 3_000_000], ["/Small/model.json", "/-/studio.js", "/Small/live", "/"])
    func aPageWithABodyIsRefused(size: Int, path: String) async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let body = ByteBuffer(repeating: 120, count: size)
            let refused = try await visitor.get(path, [.cookie: cookie], body: body)
            #expect(refused.status == .contentTooLarge)
            let unknown = try await visitor.get(path, body: body)
            #expect(unknown.status == .unauthorized)
        }
    }

    @Test func aServerThatDoesNotEndIsEnded() async throws {
        let (ended, source) = AsyncStream<Void>.makeStream()
        let stuck = StuckService()
        let service = StudioService(stuck, patience: 0.01) {
            source.finish()
            stuck.end()
        }
        var logger = Logger(label: "studio-tests")
        logger.logLevel = .error
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: service, serviceName: "stuck")], logger: logger))
        async let running: Void = group.run()
        await stuck.started()
        await group.triggerGracefulShutdown()
        for await _ in ended {}
        try await running
    }

    @Test func twoHostsAreRefused() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let host = try #require(HTTPField.Name("Host"))
            let answer = try await visitor.get("/Small/model.json", [.cookie: cookie, host: "evil.example"])
            #expect(answer.status == .badRequest)
        }
    }

    @Test func namesThatLookLikeEndingsAreNames() async throws {
        let store = try SmallStore(name: "x.json", entity: "index")
        try await serving(store.path) { visitor in
            let cookie = try await visitor.enter()
            for path in ["/x.json/objects/index.json", "/x.json/model.json", "/x.json.json", "/x.json/index.json"] {
                let answer = try await visitor.get(path, [.cookie: cookie])
                #expect(answer.status == .ok && answer.text.contains("\"index\""), "\(path): \(answer.text)")
            }
            let page = try await visitor.get("/x.json", [.cookie: cookie, .accept: "text/html"])
            #expect(page.text.hasPrefix("<!doctype html>"))
            let stores = try await visitor.get("/index.json", [.cookie: cookie])
            #expect(stores.text.contains("\"stores\""))
        }
    }

    @Test func headHasNoBody() async throws {
        try await serving { visitor in
            let cookie = try await visitor.enter()
            let answer = try await visitor.get("/Small/model.json", [.cookie: cookie], method: .head)
            let whole = try await visitor.get("/Small/model.json", [.cookie: cookie])
            #expect(answer.status == .ok && answer.text.isEmpty)
            #expect(answer.headers[.contentLength] == whole.headers[.contentLength])
        }
    }
}

/// Makes each request on a connection of its own.
struct Visitor: Sendable {
    struct Answer: Sendable {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let text: String
    }

    let port: Int
    let token: String

    func get(
        _ path: String, _ headers: HTTPFields = [:], method: HTTPRequest.Method = .get, host: String = "localhost",
        body: ByteBuffer? = nil
    ) async throws -> Answer {
        try await TestClient.withClient(host: "localhost", port: port) { client in
            let answer = try await client.execute(
                .init(path, method: method, authority: host, headers: headers, body: body))
            return Answer(
                status: answer.status, headers: answer.headers, text: answer.body.map { String(buffer: $0) } ?? "")
        }
    }

    /// Exchanges the token for the cookie, as a `Cookie` header.
    func enter() async throws -> String {
        let answer = try await get("/?token=\(token)")
        return String(try #require(answer.headers[.setCookie]).prefix { $0 != ";" })
    }
}

/// A server that ignores the request to end.
private final class StuckService: Service {
    private let (starts, hasStarted) = AsyncStream<Void>.makeStream()
    private let (ends, hasEnded) = AsyncStream<Void>.makeStream()

    func run() async throws {
        hasStarted.finish()
        for await _ in ends {}
    }

    func started() async { for await _ in starts {} }
    func end() { hasEnded.finish() }
}

/// A store with three films, one with a hostile title, and one with a title of ten megabytes.
final class SmallStore: Sendable {
    static let hostile = "<script>alert(1)</script> \u{202E}\n" + String(repeating: "long ", count: 5000)

    static let huge = String(repeating: "\u{E9}x ", count: 2_500_000)

    private let folder = FileManager.default.temporaryDirectory.appending(component: "studio-\(UUID().uuidString)")
    private let name: String
    var path: String { folder.appending(component: "\(name).strata").path(percentEncoded: false) }

    init(name: String = "Small", entity: String = "Film") throws {
        self.name = name
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: entity, properties: [.attribute(AttributeDescription(name: "title", type: .string))])
        ])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let container = PersistentContainer(name: "Small", model: model, at: .url(URL(filePath: path)))
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        for title in ["Stalker", Self.hostile, Self.huge] {
            try context.insertNewObject(forEntityName: entity).setValue(title, forKey: "title")
        }
        try context.save()
        container.close()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
