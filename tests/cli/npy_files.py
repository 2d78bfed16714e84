"""Writes and reads float64 .npy files with the standard library: the tests need no NumPy."""

import ast
import struct


def write_npy(path, rows):
    columns = len(rows[0]) if rows else 0
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {columns}), }}".encode()
    header += b" " * ((64 - (10 + len(header) + 1) % 64) % 64) + b"\n"
    data = b"".join(struct.pack(f"<{columns}d", *row) for row in rows)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def read_npy(path):
    raw = path.read_bytes()
    size = struct.unpack("<H", raw[8:10])[0]
    shape = ast.literal_eval(raw[10 : 10 + size].decode())["shape"]
    values = struct.unpack(f"<{shape[0] * shape[1]}d", raw[10 + size :])
    return [list(values[i * shape[1] : (i + 1) * shape[1]]) for i in range(shape[0])]
