"""What the engine offers, a module an area: one method a use case. Reached as `engine.files`, `engine.memory` …"""
