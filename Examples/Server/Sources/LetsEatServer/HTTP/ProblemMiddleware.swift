import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Strata

/// Turns what a route throws into an answer with a status, a sentence and a remedy.
struct ProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceContext, next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as CancellationError {
            throw error
        } catch {
            let problem = Self.problem(error)
            if problem.status.kind == .serverError {
                context.logger.error("\(request.method) \(request.uri.path) failed: \(error)")
            }
            return try problem.response(from: request, context: context)
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as StrataError: return Problem(error)
        case let error as HTTPError where error.status == .notFound:
            return Problem(.notFound, "There is nothing at this address.", remedy: "GET / lists the addresses.")
        case is NIOTooManyBytesError:
            return Problem(.contentTooLarge, "The body is too large.", remedy: "Send at most 64 KiB.")
        case is HTTPParserError:
            return Problem(
                .badRequest, "The body breaks the rules of HTTP.", remedy: "Send its length, or chunks with theirs.")
        case let error as HTTPError:
            return Problem(error.status, error.body ?? error.status.reasonPhrase, remedy: "Correct the request.")
        default: return Problem(.internalServerError, "The service failed.", remedy: "Tell the people who run it.")
        }
    }
}
