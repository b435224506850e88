import Foundation
import OperationsImages
import OperationsNetworking

let loader = ImageLoader()
let urls = [""]
