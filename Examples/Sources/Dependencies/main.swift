// Dependencies: an operation starts when all its dependencies have finished.
//
//     A ─┐
//        ├─▶ C ─┐
//     B ─┘      ├─▶ E
//            D ─┘
import OperationsFoundation

func step(_ name: String) -> BlockOperation {
    let operation = BlockOperation { print("\(name) runs") }
    operation.name = name
    return operation
}

let (a, b, c, d, e) = (step("A"), step("B"), step("C"), step("D"), step("E"))
c.addDependency(a)
c.addDependency(b)
e.addDependency(c)
e.addDependency(d)

let queue = OperationQueue()
// The order of adding does not matter: A, B and D may run at the same time, C runs after A and B, and E runs last.
queue.addOperations([e, d, c, b, a], waitUntilFinished: true)

for operation in [c, e] {
    let names = operation.dependencies.compactMap(\.name).joined(separator: " and ")
    print("\(operation.name ?? "?") came after \(names)")
}
