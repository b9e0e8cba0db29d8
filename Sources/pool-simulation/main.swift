import MachinePool

/// Prints what a simulated pool does, as lines `STRATEGY MEASURE VALUE`: `pool-simulation [NODES RUNS]`.
let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let simulation =
    numbers.count == 2 && numbers.allSatisfy { $0 > 0 }
    ? PoolSimulation(nodes: numbers[0], runs: numbers[1]) : PoolSimulation()
for (name, seesSnapshots) in [("snapshots", true), ("random", false)] {
    let result = simulation.result(seesSnapshots: seesSnapshots)
    let lines: [(String, Double)] = [
        ("started", Double(result.waits.count { $0 >= 0 })),
        ("warm", Double(result.warm)),
        ("work-seconds", result.work.rounded()),
        ("end-seconds", result.end.rounded()),
        ("mean-wait-seconds", (result.waits.reduce(0, +) / Double(max(result.waits.count, 1))).rounded()),
        ("most-overtaken", Double(result.mostOvertaken)),
        ("decisions", Double(result.decisions.count)),
        ("decision-median-us", result.decision(0.5)),
        ("decision-p99-us", result.decision(0.99)),
        ("decision-longest-us", result.decision(1)),
        ("decisions-over-1-ms", Double(result.decisions.count { $0 > .milliseconds(1) })),
    ]
    for (measure, value) in lines { print(name, measure, value) }
}
