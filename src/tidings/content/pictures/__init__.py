"""Pictures from publishers: which format their bytes have, what decoding them costs, and smaller copies."""
