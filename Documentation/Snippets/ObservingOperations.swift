import Observation
import Operations

final class Label { var text = "" }

let operation = BlockOperation {}
nonisolated(unsafe) let label = Label()
func update() {}
