"""Trained agents in formats that other programs read: SavedModel, TFLite, ONNX and Keras."""
