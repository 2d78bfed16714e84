#!/usr/bin/env python3
"""A kernel program for `subquad chain --kernel 'cmd:...'`, in plain Python: reads q, k, v as .npy, writes softmax attention.

Usage: npy_attention.py Q K V OUT SCALE [--fault FAULT]
FAULT: add:ROW:X       adds X to one output
       nan:ROW         writes NaN there
       status          ends with status 3
       silent          writes nothing
       shape           writes one row too few
       garbage         writes bytes that are no .npy file
"""

import math
import struct
import sys
from pathlib import Path


def read_npy(path):
    """Rows of a float64 matrix in C order, as `subquad` writes it."""
    data = Path(path).read_bytes()
    assert data[:6] == b"\x93NUMPY", path
    length = struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10 : 10 + length], {"__builtins__": {}})  # noqa: S307: our own files only
    assert header["descr"] == "<f8" and not header["fortran_order"], header
    rows, columns = header["shape"]
    values = struct.unpack_from(f"<{rows * columns}d", data, 10 + length)
    return [list(values[r * columns : (r + 1) * columns]) for r in range(rows)], columns


def write_npy(path, rows, columns):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {columns}), }}"
    header = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + "\n"
    flat = [x for row in rows for x in row]
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(flat)}d", *flat))


def attention(q, k, v, scale):
    result = []
    for query in q:
        logits = [scale * sum(x * y for x, y in zip(query, key)) for key in k]
        top = max(logits)
        weights = [math.exp(x - top) for x in logits]
        total = sum(weights)
        result.append([sum(w * row[c] for w, row in zip(weights, v)) / total for c in range(len(v[0]))])
    return result


def main():
    q_path, k_path, v_path, out_path, scale = sys.argv[1:6]
    fault = sys.argv[7].split(":") if len(sys.argv) > 7 else [""]
    if fault[0] == "status":
        return 3
    if fault[0] == "silent":
        return 0
    if fault[0] == "garbage":
        Path(out_path).write_bytes(b"not an array")
        return 0
    (q, _), (k, _), (v, columns) = read_npy(q_path), read_npy(k_path), read_npy(v_path)
    output = attention(q, k, v, float(scale))
    if fault[0] == "add":
        output[int(fault[1])][0] += float(fault[2])
    if fault[0] == "nan":
        output[int(fault[1])][0] = math.nan
    if fault[0] == "shape":
        output.pop()
    print("this line must not reach the command's stdout")
    write_npy(out_path, output, columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
