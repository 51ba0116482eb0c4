import CoreMetrics
import Foundation
import HTTPTypes
import Strata
import Testing

@testable import LetsEatServer

/// Health, metrics, and the text that Prometheus reads.
@Suite struct OperationsTests {
    @Test func healthSaysWhetherTheStoreIsOpen() async throws {
        let service = try ServiceUnderTest()
        try await service.running(.live) { visitor in
            #expect(try await visitor.ask(.get, "/health/live").status == 200)
            #expect(try await visitor.ask(.get, "/health/ready").status == 200)
            try await visitor.make()
            let health = try await visitor.ask(.get, "/health").json
            #expect(health["status"] as? String == "ready" && health["outboxLag"] == nil)
            #expect((health["fileSizeInBytes"] as? Int ?? 0) > 0)
            #expect(try await visitor.ask(.get, "/").text.contains("/events"))
        }
    }

    @Test func aStoreThatIsNotOpenIsNotReady() async throws {
        let service = try ServiceUnderTest()
        let routes = OperationsRoutes(
            container: service.container, store: service.service.store, metrics: service.metrics)
        #expect(await !routes.store.isReady)
    }

    @Test func metricsHaveWhatTheStoreDid() async throws {
        let service = try ServiceUnderTest()
        try await service.running(.live) { visitor in
            try await visitor.make()
            let answer = try await visitor.ask(.get, "/metrics")
            #expect(answer.headers[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
            let common = #"db_system_name="strata",db_namespace="LetsEat""#
            #expect(answer.text.contains("# TYPE db_client_operation_duration_seconds histogram\n"))
            #expect(
                answer.text.contains(
                    "db_client_operation_duration_seconds_count{\(common),db_operation_name=\"save\"} 1\n"))
            #expect(answer.text.contains("strata_save_events_total{\(common)} "))
            #expect(answer.text.contains("strata_sync_duration_seconds_count{\(common)} 1\n"))
            #expect(answer.text.contains("# TYPE strata_store_size gauge\n"))
        }
    }

    @Test func histogramsAreCumulativeAndLabelsAreEscaped() throws {
        let metrics = PrometheusMetrics()
        let timer = Timer(label: "a.b", dimensions: [("c.d", "e\"\\\nf")], factory: metrics)
        for milliseconds in [0.05, 3, 4, 20_000] { timer.recordNanoseconds(Int64(milliseconds * 1_000_000)) }
        Counter(label: "1st", factory: metrics).increment(by: 2)
        Gauge(label: "g", factory: metrics).record(2.5)
        let lines = metrics.text().split(separator: "\n").map(String.init)
        let labels = #"c_d="e\"\\\nf""#
        #expect(lines.contains("a_b_seconds_bucket{\(labels),le=\"0.0001\"} 1"))
        #expect(lines.contains("a_b_seconds_bucket{\(labels),le=\"0.0025\"} 1"))
        #expect(lines.contains("a_b_seconds_bucket{\(labels),le=\"0.005\"} 3"))
        #expect(lines.contains("a_b_seconds_bucket{\(labels),le=\"10\"} 3"))
        #expect(lines.contains("a_b_seconds_bucket{\(labels),le=\"+Inf\"} 4"))
        #expect(lines.contains("a_b_seconds_count{\(labels)} 4"))
        #expect(lines.contains("# TYPE _1st_total counter") && lines.contains("_1st_total 2"))
        #expect(lines.contains("# TYPE g gauge") && lines.contains("g 2.5"))
    }

    @Test func dimensionsThatClientsMakeUpDoNotFillTheMemory() throws {
        let metrics = PrometheusMetrics()
        for number in 0..<(PrometheusMetrics.mostSeries + 50) {
            Counter(label: "c", dimensions: [("method", "M\(number)")], factory: metrics).increment()
        }
        #expect(metrics.text().split(separator: "\n").count == PrometheusMetrics.mostSeries + 1)
    }

    @Test(arguments: [
        ("\"17\"", UInt64?.some(17)), ("\"0\"", 0), ("17", nil), ("W/\"17\"", nil), ("\"\"", nil), ("\"x\"", nil),
        ("\"-1\"", nil), ("\"99999999999999999999\"", nil),
    ]) func tagsAreRead(text: String, number: UInt64?) {
        #expect(EntityTag(text)?.revision.rawValue == number)
    }
}
