#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// A change's steps try to leave their sandbox. Their output and observations from outside must show that they
    /// failed.
    struct EscapeTests {
        @Test(.outsideOfSteps, .timeLimit(.minutes(10)))
        func `steps of a change stay in their sandbox`() async throws {
            let attempts = FileAttempts.reading + FileAttempts.writing + KernelAttempts.all
            let steps = attempts.map {
                "Step(\"\($0.name)\", run: \"sh attempts/\($0.name).sh\").allowFailure()"
                    + ($0.hasNetwork ? ".network(.allowed)" : "")
            }
            let after = "Step(\"after\", needs: [], run: \"id -u; cat README.md\").always()"
            try await EscapeRoom.with(steps: (steps + [after]).joined(separator: "\n")) { room in
                let doctor = try await room.bench.pipectl("doctor").output.split(separator: "\n")
                #expect(doctor.contains { $0.contains("sandbox:") && $0.contains("/bwrap,") })
                _ = try await room.bench.look()
                try await room.bench.change(1, room.files(attempts))
                let look = try await room.bench.look("--slots", "2")
                #expect(look.code == 0, "\(look.output)\(look.errors)")

                for attempt in attempts {
                    let log = try await room.log(attempt.name, of: 1)
                    let evidence = EscapeEvidence(log)
                    #expect(evidence.escaped.isEmpty, "\(attempt.name):\n\(log)")
                    #expect(evidence.refused == Set(attempt.labels), "\(attempt.name):\n\(log)")
                    #expect(!log.contains(room.canary), "\(attempt.name):\n\(log)")
                }
                #expect(try await room.traces().isEmpty)
                #expect(room.victimSleeps)
                #expect(room.heard == "allowed-\(room.mark)", "only the step that is allowed the network is heard")
                #expect(EscapeRoom.text("\(room.outside)/secret.txt") == "\(room.canary)\n")
                // A step's output about itself is just output; its exit code decides.
                #expect(try await room.report(1).contains("exit code 9"))
                let after = try await room.log("after", of: 1)
                #expect(after.hasSuffix("base\n") && !after.contains("PLANTED"), "\(after)")

                try await expectSuccessOutside(attempts, room)
            }
        }

        /// Without the sandbox the same scripts succeed, so it is the sandbox that stops them.
        private func expectSuccessOutside(_ attempts: [EscapeAttempt], _ room: EscapeRoom) async throws {
            let isPowerful = try await EscapeRoom.isPowerful(room.bench)
            for attempt in attempts {
                switch attempt.control {
                case .none: continue
                case .root where !isPowerful: continue
                case .anyone where EscapeRoom.isFiltered, .root where EscapeRoom.isFiltered: continue
                case .anyone, .root: break
                }
                let evidence = try await room.control(attempt)
                #expect(evidence.escaped == Set(attempt.labels), "\(attempt.name) outside:\n\(evidence.text)")
            }
        }
    }
#endif
