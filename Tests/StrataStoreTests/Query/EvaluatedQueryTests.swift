import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// What the store finds by conditions over bytes is what the plain evaluator says of each object, and a predicate's
/// written form finds the same.
@Suite struct EvaluatedQueryTests {
    @Test(arguments: RandomTesting.seeds) func conditionsMeanWhatTheEvaluatorSays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = try QueryWorld(&random)
        let before = world.state
        let step = try world.mutate(80, &random)
        try world.save(step, from: before)
        let state = world.state
        var found = 0
        try world.fixture.store.read(at: try world.fixture.store.head()) { snapshot in
            for _ in 0..<60 {
                var generator = QueryGenerator(random: random, state: state)
                var request = try generator.request(world)
                random = generator.random
                guard let predicate = request.predicate else { continue }
                (request.sort, request.limit, request.offset) = ([], 0, 0)
                let fetched = try snapshot.fetch(try CompiledQuery(request, snapshot.schema, access: .planned))
                var all = request
                all.predicate = nil
                let evaluation = Evaluation(snapshot)
                let evaluated = try snapshot.fetch(try CompiledQuery(all, snapshot.schema, access: .scanOnly)).filter {
                    id in
                    try PredicateEvaluator(evaluation.expressions, object: .one(.objectID(id))).holds(predicate)
                }
                #expect(Set(fetched) == Set(evaluated), "seed \(seed): \(predicate)")
                request.predicate = try FetchPredicate(format: predicate.description)
                let again = try snapshot.fetch(try CompiledQuery(request, snapshot.schema, access: .planned))
                #expect(again == fetched, "seed \(seed): \(predicate)")
                found += fetched.isEmpty ? 0 : 1
            }
        }
        #expect(found > 15)
    }
}
