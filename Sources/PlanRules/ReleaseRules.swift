package import Pipeline

/// Checks the steps that make and publish releases. They run no command, so they must have no settings of one.
struct UsableReleases: PlanRule {
    static let name = "release"

    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        var makers: [String] = []
        for step in plan.steps {
            switch step.action {
            case .release(let release):
                makers.append(step.name)
                check(release, step, report)
                checkFiles(of: release, step, plan, report)
            case .publish(let destination):
                for problem in problems(of: destination) { report(step.name, problem) }
                if case .testFlight = destination, case .counted(let base) = plan.release?.version,
                    !TestFlight.takes(base)
                {
                    report(
                        step.name,
                        "Apple takes versions of one to three numbers with periods between; the base is \"\(base)\", "
                            + "write one like \"1.4\"")
                }
            case .shell, .command, .closure, .approval: continue
            }
            checkModifiers(of: step, report)
        }
        if makers.isEmpty, plan.publishes {
            report(nil, "a step publishes a release, but none makes it; add the release's step")
        }
        if makers.count > 1 { report(makers[1], "a workflow makes one release; \"\(makers[0])\" makes one, too") }
    }

    private func check(_ release: ReleasePlan, _ step: PlannedStep, _ report: (String?, String) -> Void) {
        if step.needs.isEmpty {
            report(step.name, "a release is made of the artifacts of the steps that it needs; name them in `needs:`")
        }
        for glob in release.files {
            do throws(GlobProblem) { _ = try Glob(glob) } catch { report(step.name, error.description) }
        }
        if let wanted = release.overTheAir {
            let isAddress = wanted.address.hasPrefix("https://") && !wanted.address.contains { "?#@ ".contains($0) }
            if !isAddress {
                report(
                    step.name, "\"\(wanted.address)\" is no address like https://HOST/PATH, without a user and a query")
            }
            if wanted.app.isEmpty || wanted.title.isEmpty {
                report(step.name, "an app that is installed over the air has an identifier and a title; write both")
            }
        }
        if let formula = release.formula, !formula.hasSuffix(".rb") || formula.contains("/") {
            report(
                step.name, "\"\(formula)\" is no formula; name a file of the release that ends in .rb, without folders")
        }
        switch release.version {
        case .tag: break
        case .file(let path):
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            if path.isEmpty || parts.contains(where: { ["", ".", ".."].contains($0) }) {
                report(step.name, "\"\(path)\" is no path of the repository; write one like App/Info.plist")
            }
        case .counted(let base):
            if base.isEmpty || base.hasSuffix(".") {
                report(step.name, "the base of the version is \"\(base)\"; write one like \"1.4\"")
            }
            if base.wholeMatch(of: /[vV][0-9].*/) != nil {
                report(step.name, "the base \"\(base)\" has a v, which only the tag has; write \"\(base.dropFirst())\"")
            }
        }
    }

    /// Finds a release that no artifact can get into.
    private func checkFiles(
        of release: ReleasePlan, _ step: PlannedStep, _ plan: Plan, _ report: (String?, String) -> Void
    ) {
        let needed = plan.needs(of: step.name).subtracting([step.name])
        // The lack of needs is reported already.
        guard !needed.isEmpty else { return }
        let made = plan.steps.filter { needed.contains($0.name) }.flatMap(\.artifacts)
        guard !made.isEmpty else {
            return report(
                step.name, "no step that it needs declares artifacts; add .artifacts(…) to the one that makes files")
        }
        let (wanted, found) = (release.files.compactMap { try? Glob($0) }, made.compactMap { try? Glob($0) })
        // A pattern that can't be read is reported by itself.
        guard wanted.count == release.files.count, found.count == made.count, !wanted.isEmpty,
            wanted.allSatisfy({ glob in found.allSatisfy(glob.excludes) })
        else { return }
        report(
            step.name,
            "files: \(release.files.joined(separator: ", ")) matches none of the artifacts \(made.joined(separator: ", ")) "
                + "of the steps that it needs; write files: like those")
    }

    private func checkModifiers(of step: PlannedStep, _ report: (String?, String) -> Void) {
        var plain = PlannedStep(name: step.name, action: step.action, needs: step.needs)
        (plain.timeout, plain.retry, plain.secrets) = (step.timeout, step.retry, step.secrets)
        (plain.isIdempotent, plain.isNeverProved) = (true, true)
        if plain != step {
            report(
                step.name,
                "the daemon makes and publishes releases; the modifiers that such a step can have are .timeout(…) and "
                    + ".retries(…)")
        }
    }

    private func problems(of destination: Destination) -> [String] {
        func folder(_ path: String) -> [String] {
            path.hasPrefix("/") && !path.split(separator: "/").contains("..")
                ? [] : ["the folder \"\(path)\" is not absolute; write its whole path"]
        }
        func address(_ text: String, _ schemes: [String]) -> [String] {
            schemes.contains { text.hasPrefix($0) } && !text.contains("@") && !text.contains("?")
                ? [] : ["\"\(text)\" is no address like \(schemes[0])HOST/PATH, without a user and a query"]
        }
        return switch destination {
        case .forge: []
        case .packages(let name): name.isEmpty || name.contains("/") ? ["\"\(name)\" is no name of a package"] : []
        case .registry(let repository, _): address(repository, ["https://", "http://"])
        case .folder(let path, let shown): folder(path) + (shown.map { address($0, ["https://", "http://"]) } ?? [])
        case .ssh(let host, let path, _, _):
            folder(path)
                + (Destination.sshHost(host) != nil
                    ? [] : ["\"\(host)\" is no host; write user@host or user@host:PORT"])
        case .apt(let path, let suite, let component, _, let days, let shown):
            folder(path) + (shown.map { address($0, ["https://", "http://"]) } ?? [])
                + (days.map { (1...3_650).contains($0) } ?? true
                    ? [] : ["lists can't be valid for \(days ?? 0) days; write 1 to 3650"])
                + [suite, component].filter { !Destination.isAptName($0) }.map {
                    "\"\($0)\" is no name of a suite or component; it may have letters, digits and . _ -"
                }
        case .homebrew(let tap, let formula, _):
            // An ssh address names the user, which is no secret.
            address(tap.replacing(/^ssh:\/\/[A-Za-z0-9._\-]+@/, with: "ssh://"), ["https://", "ssh://", "file://"])
                + (formula.hasSuffix(".rb") ? [] : ["\"\(formula)\" is no formula; name a file that ends in .rb"])
        case .testFlight(let testFlight):
            [testFlight.app, testFlight.keyID].contains("")
                ? ["TestFlight needs the app's identifier and a key id"] : []
        }
    }
}

extension Plan {
    /// What can't work in any run that such an event starts.
    package func findings(startedBy event: Trigger.Event) -> [PlanFinding] {
        guard let release else { return [] }
        func finding(_ message: String) -> [PlanFinding] {
            [PlanFinding(rule: UsableReleases.name, workflow: workflow, message: message)]
        }
        switch (event, release.version) {
        case (.pullRequest, _):
            return finding("it makes a release, so no change can start it; start it on .merge or .tag")
        case (.merge, .tag), (.push, .tag), (.schedule, .tag):
            return finding(
                "its version comes from a tag, but .\(event.rawValue) starts it without one; start it on "
                    + ".tag(matching: \"v*\"), or take the version with .file(…) or .counted(…)")
        default: return []
        }
    }
}
