extension Step {
    /// A gate: the steps that need it wait for `pipectl approve RUN --step NAME`.
    ///
    /// It runs nothing and takes no slot. `pipectl approve --reject` fails it. Without ``Step/timeout(_:)`` it waits 7
    /// days.
    public static func approval(_ name: String, needs: Step...) -> Step { approval(name, needs: needs) }

    /// A gate: the steps that need it wait for `pipectl approve RUN --step NAME`.
    ///
    /// It runs nothing and takes no slot. `pipectl approve --reject` fails it. Without ``Step/timeout(_:)`` it waits 7
    /// days.
    public static func approval(_ name: String, needs: [Step]) -> Step {
        Step(name, needs, .approval).timeout(.hours(168))
    }
}
