/// The number of a run, unique on its build box, counted from 1.
public typealias RunID = Int64

/// The number of a task, unique on its build box, counted from 1.
public typealias TaskID = Int64
