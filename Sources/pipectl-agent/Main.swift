import MachineAgent

/// Runs the steps of one run on this machine, for a daemon that is at the other end of its standard input and output.
@main struct Main {
    static func main() async { await AgentProgram.run(Array(CommandLine.arguments.dropFirst())) }
}
