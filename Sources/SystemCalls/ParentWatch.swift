import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Does a child process's work, and ends the process as soon as its parent has ended: work that waits for a silent host,
/// or writes much, would outlive a killed daemon.
package func endingWithParent(_ body: () throws -> Void) rethrows {
    let parent = getppid()
    let watch = DispatchSource.makeTimerSource()
    watch.schedule(deadline: .now(), repeating: .milliseconds(200))
    watch.setEventHandler { if getppid() != parent { _exit(1) } }
    watch.resume()
    defer { watch.cancel() }
    try body()
}
