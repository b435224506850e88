import Dispatch
import OpenCombine
import Operations
import OperationsCombine
import Synchronization

let queue = OperationQueue()
let (operation, download) = (BlockOperation {}, BlockOperation {})
nonisolated(unsafe) let typed = PassthroughSubject<String, Never>()
func draw() -> [UInt8] { [] }
func show(_ text: String) {}

@MainActor final class ViewModel { var titles: [String] = [] }
@MainActor let viewModel = ViewModel()
let title = ""
func download(_ completion: @escaping @Sendable () -> Void) {}
