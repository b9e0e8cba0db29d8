/// The sandbox for programs. It is looked for when the first process needs it, and stays the same from then on.
actor LazyProgramSandbox {
    private let find: @Sendable () async -> ProgramSandbox
    private var found: ProgramSandbox?

    init(_ find: @escaping @Sendable () async -> ProgramSandbox) { self.find = find }

    var programSandbox: ProgramSandbox {
        get async {
            if let found { return found }
            let looked = await find()
            // Two calls may have looked at the same time; both must use the same users afterwards.
            let kept = found ?? looked
            found = kept
            return kept
        }
    }
}
