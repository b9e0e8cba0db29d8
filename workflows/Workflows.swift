import Pipeline

// Every workflow of this repository; pipectl asks this list. `pipectl validate` checks it.
@main struct Workflows: WorkflowSet { static let workflows = [test, release] }
