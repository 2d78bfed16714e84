"""Folder, registry, tests, docs pages and ledger agree: what is in one is in all."""

import re

# Public headers of lib/attention that are no kernels of their own, each with the reason.
NOT_KERNELS = {
    "kernel": "the registry of kernels itself",
    "low_rank_exact": "the rational factors of low_rank, for tests and small examples",
    "low_rank_plan": "the plan of low_rank",
    "monomial_basis": "the feature map of low_rank",
    "anna": "another definition of attention (L25), with parameters of its own: subquad anna",
    "exact_match": "the case r = 0 of anna",
    "chunked_softmax": "streaming_softmax inside the parts of a partition",
    "batched_attention": "streaming_softmax and its gradients on tensors of many heads",
    "top_k": "a search of lib/ann, whose page stands with the kernels that it feeds",
    "top_k_attention": "needs the result of a search; adaptive_top_k is the kernel made of it",
    "lazy_gumbel": "the sampler of sampled_attention",
    "sampled_attention": "needs the result of a search, and sample sizes: subquad attend --kernel sampled",
    "sampled_gradients": "gradients by sampling",
    "unlisted_keys": "the complement of a few keys, for lazy_gumbel",
    "gradient_quality": "measures of gradients",
    "streaming_softmax_backward": "gradients: the registry holds what computes outputs",
    "streaming_softmax_backward_schedule": "the order of work of streaming_softmax_backward",
}
# The same for verifiers.
NOT_VERIFIERS = {
    "anna_format": "the files of anna",
    "exp_polynomial_format": "the files of exp_polynomial",
    "softmax_enclosure": "the double arithmetic of attention_output",
    "weighted_sums": "the vector code of softmax_enclosure",
}


def class_name(stem):
    """cnf_to_ov -> CnfToOv"""
    return "".join(part.capitalize() for part in stem.split("_"))


def _registered(tree, registry, room):
    """Stems of the headers that the registry includes *and* whose class or function it names elsewhere."""
    text = tree.read(registry)
    body = re.sub(r"^\s*#\s*include.*$", "", text, flags=re.M)
    stems = set(re.findall(rf"#\s*include\s*<subquad/{room}/(\w+)\.hpp>", text))
    return {stem for stem in stems if re.search(rf"\b({class_name(stem)}|{stem})(_\w+)?\b", body)}


def _ledger_headers(tree):
    """Paths in the `header:` lines of the ledger (read as text: this script needs the standard library only)."""
    return set(re.findall(r"^\s*header:\s*(\S+)", tree.read("docs/theorems.yaml"), flags=re.M))


def _public_stems(tree, room, exempt):
    """Stems of the headers that a room lists, without the exempted ones."""
    return (
        sorted({header.split(".")[0] for header in tree.rooms[room].headers} - set(exempt))
        if room in tree.rooms
        else []
    )


def _need(tree, what, paths):
    return [f"{what}: {path} is missing" for path in paths if not tree.exists(path)]


def reductions(tree):
    """reductions/x_to_y: pair of files, registry line, test, page, ledger entry."""
    found = []
    in_folder = {s.stem for s in tree.sources if s.folder == "reductions" and re.fullmatch(r"\w+_to_\w+", s.stem)}
    in_registry = {s for s in _registered(tree, "reductions/registry.cpp", "reductions") if "_to_" in s}
    in_ledger = {
        h[len("reductions/") : -len(".hpp")]
        for h in _ledger_headers(tree)
        if re.fullmatch(r"reductions/\w+_to_\w+\.hpp", h)
    }
    pages = {p.stem for p in (tree.root / "docs/reductions").glob("*_to_*.md")}
    tests = {
        s.stem[: -len("_test")]
        for s in tree.sources
        if s.folder == "tests/reductions" and re.fullmatch(r"\w+_to_\w+_test", s.stem)
    }
    for stem in sorted(in_folder | in_registry | in_ledger | pages | tests):
        what = f"reduction {stem}"
        found += _need(
            tree,
            what,
            [
                f"reductions/{stem}.hpp",
                f"reductions/{stem}.cpp",
                f"tests/reductions/{stem}_test.cpp",
                f"docs/reductions/{stem}.md",
            ],
        )
        if stem not in in_registry:
            found.append(f"{what}: reductions/registry.cpp does not register {class_name(stem)}")
        if stem not in in_ledger:
            found.append(f"{what}: docs/theorems.yaml has no entry with header reductions/{stem}.hpp")
    return found


def problems(tree):
    """lib/problems/x whose header states a problem (a kId): pair of files, registry line, test, row in docs/problems.md."""
    found = []
    registered = _registered(tree, "reductions/registry.cpp", "problems")
    stated = {s.stem for s in tree.sources if s.path in tree.public_headers and re.search(r"\bkId\s*=", s.text)}
    for stem in [s for s in _public_stems(tree, "problems", ()) if s in stated]:
        what = f"problem {stem}"
        found += _need(
            tree, what, [f"lib/problems/{stem}.hpp", f"lib/problems/{stem}.cpp", f"tests/problems/{stem}_test.cpp"]
        )
        if stem not in registered:
            found.append(f"{what}: reductions/registry.cpp does not register {class_name(stem)}")
        if stem not in tree.read("docs/problems.md"):
            found.append(f"{what}: docs/problems.md does not name it")
    return found


def kernels(tree):
    """lib/attention/x: pair of files, line in kernel.cpp, test, page."""
    found = []
    registered = _registered(tree, "lib/attention/kernel.cpp", "attention")
    stems = set(_public_stems(tree, "attention", NOT_KERNELS))
    pages = {p.stem for p in (tree.root / "docs/kernels").glob("*.md")} - {"README"}
    for stem in sorted(stems | (pages - NOT_KERNELS.keys())):
        what = f"kernel {stem}"
        found += _need(
            tree,
            what,
            [
                f"lib/attention/{stem}.hpp",
                f"lib/attention/{stem}.cpp",
                f"tests/attention/{stem}_test.cpp",
                f"docs/kernels/{stem}.md",
            ],
        )
        if stem not in registered:
            found.append(f"{what}: lib/attention/kernel.cpp does not register it")
    return found


def verifiers(tree):
    """verifiers/x: pair of files, test, row in docs/verifiers.md."""
    found = []
    for stem in _public_stems(tree, "verifiers", NOT_VERIFIERS):
        what = f"verifier {stem}"
        found += _need(
            tree, what, [f"verifiers/{stem}.hpp", f"verifiers/{stem}.cpp", f"tests/verifiers/{stem}_test.cpp"]
        )
        if stem not in tree.read("docs/verifiers.md"):
            found.append(f"{what}: docs/verifiers.md does not name it")
    return found


def room_pages(tree):
    """Each room has a README.md whose table names every public header."""
    found = []
    for room in tree.rooms.values():
        page = f"{room.folder}/README.md"
        if not tree.exists(page):
            found.append(f"room {room.name}: {page} is missing")
            continue
        for header in room.headers:
            if header.split(".")[0] not in tree.read(page):
                found.append(f"{page}: does not name {header}")
    return found


RULES = (reductions, problems, kernels, verifiers, room_pages)
