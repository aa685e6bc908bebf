"""Writes the model file that the product reads: python export.py TABLE.npz model.bin

Little-endian: "CPTOKENS", u32 format (1), u32 rows, u32 dimensions, u32 bytes of the packed vocabulary, f32 damping,
u32 zero, SHA-256 of all that follows; then the vocabulary (deflate, one token a line), padding to 4 bytes, one f32
scale a row, int8 rows.
"""

import hashlib
import struct
import sys
import zlib

import numpy as np


def main():
    packed = np.load(sys.argv[1])
    rows, scale = packed["rows"], packed["scale"].astype("<f4")
    vocabulary = zlib.compress(str(packed["vocabulary"]).encode(), 9)
    vocabulary += bytes(-len(vocabulary) % 4)
    body = vocabulary + scale.tobytes() + rows.astype(np.int8).tobytes()
    head = struct.pack("<8sIIIIfI", b"CPTOKENS", 1, *rows.shape, len(vocabulary), float(packed["damping"]), 0)
    with open(sys.argv[2], "wb") as out:
        out.write(head + hashlib.sha256(body).digest() + body)
    print(packed["name"], rows.shape, len(head) + 32 + len(body), "bytes; vocabulary", len(vocabulary))


if __name__ == "__main__":
    main()
