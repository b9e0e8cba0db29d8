import MCP
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Serves pipectl's tools to the agent of one run: each connection speaks the protocol as on standard input and output.
struct ToolService: Sendable {
    /// An agent and its subagents.
    private static let mostConnections = 8

    let server: Server

    /// Serves connections until the task is cancelled.
    func serve(_ listener: StreamSocket) async {
        let open = OpenCount()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    guard let client = try await listener.accept() else { break }
                    guard open.enter(atMost: Self.mostConnections) else { continue }
                    group.addTask {
                        await attend(client)
                        open.leave()
                    }
                } catch {
                    // Out of descriptors: the client stays in the kernel's queue until some are free.
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            group.cancelAll()
        }
    }

    private func attend(_ client: StreamSocket) async {
        let descriptor = client.descriptor
        // The lines are read and written by threads, which wait.
        let flags = fcntl(descriptor.number, F_GETFL)
        _ = fcntl(descriptor.number, F_SETFL, flags & ~O_NONBLOCK)
        await withTaskCancellationHandler {
            await server.run(
                input: LineInput(descriptor: descriptor.number, holding: descriptor),
                output: LineOutput(descriptor: descriptor.number, holding: descriptor))
        } onCancel: {
            // A thread that reads or writes ends then.
            client.close()
        }
        client.close()
    }
}
