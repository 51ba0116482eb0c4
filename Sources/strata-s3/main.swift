// `strata` with an HTTP client for buckets. `strata` runs this program in its place when a target is `s3://…`, so that
// all other commands start without loading the client.

import StrataBuckets
import StrataInspector

StrataCommand.start { address, environment in try BucketTarget(address: address, environment: environment) }
