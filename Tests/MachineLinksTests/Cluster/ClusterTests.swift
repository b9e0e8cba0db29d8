import Foundation
import Machines
import TestBasics
import Testing

@testable import MachineLinks

/// The links against real servers, and faults of all kinds. `script/cluster-faults` prints them as a table.
@Suite(
    .enabled(if: TestCluster.isPossible, "it takes root and script/bootstrap --cluster"), .cluster, .serialized,
    .timeLimit(.minutes(10)))
struct ClusterTests {
    #if os(Linux)
        @Suite(.serialized) struct SSH {}
        @Suite(.serialized) struct Slurm {}
    #endif
}
