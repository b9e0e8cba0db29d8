import Foundation
import Machines
import TestBasics
import Testing

@testable import MachineLinks

/// The links against real servers, and faults of all kinds. `script/cluster-faults` prints them as a table.
@Suite(
    .enabled(if: TestCluster.isAsked && TestCluster.isPossible, "script/cluster-faults runs these, as root"), .cluster,
    .serialized,
    .timeLimit(.minutes(10)))
struct ClusterTests {
    #if os(Linux)
        @Suite(.serialized) struct SSH {}
        @Suite(.serialized) struct Slurm {}
    #endif
}
