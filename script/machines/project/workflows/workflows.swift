import Pipeline

// What the machines of script/vm test: little work, so that the machine and not the project takes the time.
let test = Workflow("test", on: .pullRequest(into: "main"), .push(to: "main")) {
    Step("build", run: "make").neverProved()
}

let limits = Workflow("limits", on: .pullRequest(into: "main", paths: ["limits.txt"])) {
    Step("memory", run: "head -c 300M /dev/zero | tail -c 300M > /dev/null").limits(.memory(.mebibytes(64)))
    Step("processes", run: "i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i + 1)); done; wait").limits(.processes(20))
    Step("time", run: "while :; do :; done").limits(.cpuTime(.seconds(2)))
}

let escape = Workflow("escape", on: .pullRequest(into: "main", paths: ["escape.txt"])) {
    Step("attempts", run: "sh attempts.sh")
}

let long = Workflow("long", on: .pullRequest(into: "main", paths: ["long.txt"])) {
    Step("rest", run: "sleep $(cat long.txt)")
}

@main struct Workflows: WorkflowSet { static let workflows = [test, limits, escape, long] }
