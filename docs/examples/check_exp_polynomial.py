#!/usr/bin/env python3
"""Checks an exp-polynomial file again: polynomial, epsilon and certificate, in rational arithmetic from the standard library.

    check_exp_polynomial.py FILE

This shares nothing with subquad but the file format (docs/formats.md) and the proofs (docs/proofs/exp_certificates.md). It knows the
alternation proof of the upper bound and the dual proof of the lower bound.
"""

import sys
from fractions import Fraction
from math import floor


class Rejected(Exception):
    """The certificate does not prove what the file claims."""


BITS = 400  # of the brackets of exp


def exp_bracket(x):
    """Rationals low <= e^x <= high with a relative distance of about 2^-BITS."""
    bits = BITS
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < 0:
        low, high = exp_bracket(-x)
        return 1 / high, 1 / low
    halvings = max(0, floor(x).bit_length() + 8)
    unit = 1 << (bits + 2 * halvings + 16)
    y = x / (1 << halvings)
    low_term, high_term, low, high, k = unit, unit, unit, unit, 0
    while high_term > 1:
        k += 1
        low_term = floor(Fraction(low_term) * y / k)
        high_term = -floor(-Fraction(high_term) * y / k)
        low, high = low + low_term, high + high_term
    high += 1  # the tail: at most the last term, as y < 1/2
    for _ in range(halvings):
        low, high = low * low // unit, -(-high * high // unit)
    return Fraction(low, unit), Fraction(high, unit)


def parse(text):
    """The file's lines as keys with their numbers."""
    lines = [line.split() for line in text.splitlines() if line != "c" and not line.startswith("c ")]
    if not lines or lines[0][:2] != ["p", "exp-polynomial"]:
        raise Rejected("no header")
    claim = {"relative": lines[0][2] == "relative", "a": Fraction(lines[0][3]), "b": Fraction(lines[0][4]), "p": [], "k": [], "x": []}
    for key, *words in lines[1:]:
        if key == "epsilon":
            claim["epsilon"] = Fraction(words[0])
        elif key == "a":
            claim["p"].append(Fraction(words[0]))
        elif key == "upper":
            claim["proof"] = words[0]
        elif key == "k":
            claim["k"].append((Fraction(words[0]), Fraction(words[1])))
        elif key == "lower":
            claim["lower"] = (int(words[0]), Fraction(words[1]))
        elif key == "x":
            claim["x"].append(Fraction(words[0]))
        else:
            raise Rejected(f"unknown line {key}")
    return claim


def value(p, x):
    result = Fraction(0)
    for c in reversed(p):
        result = result * x + c
    return result


def derivative(p):
    return [k * c for k, c in enumerate(p)][1:] or [Fraction(0)]


def upper_bound(claim):
    """The error is monotone between critical points; each interval is shown to hold one, and there are no others."""
    p, relative = claim["p"], claim["relative"]
    a, b, intervals = claim["a"], claim["b"], claim["k"]
    degree = len(p) - 1
    if len(intervals) != degree or (degree > 0 and p[-1] == 0):
        raise Rejected("not as many intervals as the degree")
    slope = derivative(p)
    if relative:
        marker = [(slope[k] if k < len(slope) else 0) - p[k] for k in range(len(p))]
    else:
        marker = slope
    radius = max(abs(a), abs(b))
    steepest = sum(abs(c) * radius**k for k, c in enumerate(derivative(marker))) + (0 if relative else exp_bracket(b)[1])

    def error(x):
        low, high = exp_bracket(x)
        ends = [value(p, x) / low - 1, value(p, x) / high - 1] if relative else [value(p, x) - low, value(p, x) - high]
        return max(map(abs, ends))

    def marker_at(x):
        m = value(marker, x)
        low, high = (Fraction(0), Fraction(0)) if relative else exp_bracket(x)
        return m - high, m - low

    largest, before = max(error(a), error(b)), a
    for u, v in intervals:
        if not before <= u < v <= b:
            raise Rejected("intervals out of place")
        mu, mv = marker_at(u), marker_at(v)
        if not ((mu[1] < 0 < mv[0]) or (mv[1] < 0 < mu[0])):
            raise Rejected("no change of sign in an interval")
        h = v - u
        drift = h * (max(abs(t) for t in mu + mv) + steepest * h)
        largest = max(largest, error(u) + (drift / exp_bracket(u)[0] if relative else drift))
        before = v
    return largest


def lower_bound(claim, degree):
    """sum w_i p(x_i) = 0 for every polynomial p of that degree."""
    points = claim["x"]
    if len(points) != degree + 2 or len(set(points)) != len(points) or not all(claim["a"] <= x <= claim["b"] for x in points):
        raise Rejected("wrong points")
    low = high = weight = Fraction(0)
    for i, x in enumerate(points):
        w = Fraction(1)
        for j, y in enumerate(points):
            if j != i:
                w /= x - y
        e = exp_bracket(x)
        low += w * e[0 if w > 0 else 1]
        high += w * e[1 if w > 0 else 0]
        weight += abs(w) * (e[1] if claim["relative"] else 1)
    if low <= 0 <= high:
        raise Rejected("the sum is not told apart from zero")
    return (low if low > 0 else -high) / weight


def check(text):
    """Returns what is proved; raises Rejected otherwise. More bits are tried before a certificate is rejected."""
    global BITS
    claim = parse(text)
    for BITS in (400, 1600):
        try:
            return check_claim(claim)
        except Rejected:
            if BITS == 1600:
                raise


def check_claim(claim):
    """The same at one precision."""
    if claim.get("proof") != "alternation":
        raise Rejected("this checker knows the alternation proof only")
    upper = upper_bound(claim)
    if not upper < claim["epsilon"]:
        raise Rejected("the error is not proved to be below epsilon")
    result = {"upper": upper, "minimal": len(claim["p"]) == 1}
    if "lower" in claim:
        degree, bound = claim["lower"]
        result["lower"] = lower_bound(claim, degree)
        if not result["lower"] >= bound:
            raise Rejected("the lower bound is not proved")
        result["minimal"] |= degree == len(claim["p"]) - 2 and result["lower"] >= claim["epsilon"]
    return result


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_exp_polynomial.py FILE")
    try:
        with open(sys.argv[1], encoding="ascii") as file:
            proved = check(file.read())
    except (OSError, Rejected, ValueError, LookupError, ZeroDivisionError) as reason:
        sys.exit(f"rejected: {reason}")
    print(f"accepted: error <= {float(proved['upper']):.6g}" + (", the least degree" if proved["minimal"] else ""))


if __name__ == "__main__":
    main()
