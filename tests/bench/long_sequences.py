"""Ways to mix long sequences against the fused kernel: exponents, crossing points, errors."""

import numpy as np
import torch

from helpers.blocks.long_sequences_torch import Performer, contenders
from helpers.device import one_thread, peak_bytes, pick_device, seconds
from helpers.experiments.long_sequences import (
    D_Q,
    HEADS,
    LENGTHS,
    cheaper_from,
    exponent,
    forward_and_backward,
    inputs,
)
from tests.bench.report import table

__all__ = ["measure"]

FUSED = "all pairs, fused"
SWEEPS = 3
FEATURES = (64, 128, 256, 512, 1024)


def measure():
    """The section on long sequences, as Markdown."""
    with one_thread():
        times, peaks = sweep(pick_device())
    lengths, fused = np.array(LENGTHS), times[FUSED].min(axis=1)
    rows = []
    for name, taken in times.items():
        slope, spread = exponent(lengths, taken)
        last = taken[-1].min()
        crossing = None if name == FUSED else cheaper_from(lengths, taken.min(axis=1), fused)
        cells = [name, f"{slope:.2f} ± {spread:.2f}", f"{1000 * last:.0f} ms"]
        cells += [f"{last / fused[-1]:.2f}", "never" if crossing is None else f"{crossing:.0f}"]
        # Apple's GPU gives no record of its memory.
        known = None not in peaks[name]
        growth = np.polyfit(np.log(lengths[2:]), np.log(peaks[name][2:]), 1)[0] if known else None
        cells += [f"{growth:.2f}", f"{peaks[name][-1] / 2**20:.0f} MiB"] if known else ["?", "?"]
        rows.append(cells)
    rows[0][4] = "itself"
    note = (
        f"Forward and backward, one text, {HEADS} heads of {D_Q}, float32, one thread; from "
        f"{LENGTHS[0]} to {LENGTHS[-1]:,} tokens, least of several calls, {SWEEPS} sweeps. "
        "Exponents are fitted from 1,024 tokens on, ± their spread over the sweeps. The peer is "
        "PyTorch's fused kernel on all pairs; *cheaper from*: the number of tokens from which a "
        "way stays faster than it."
    )
    columns = ["way", "exponent of time", f"{LENGTHS[-1]:,} tokens", "÷ the fused kernel"]
    columns += ["cheaper from", "exponent of memory", "memory"]
    return "\n\n".join(
        ["## Long sequences", note, table(columns, rows), "The Performer's error:", errors()]
    )


def sweep(device):
    """Seconds, lengths × sweeps, and bytes, one a length, of each way."""
    times, peaks = {}, {}
    for N in LENGTHS:
        arguments = [x.detach().to(device).requires_grad_(x.requires_grad) for x in inputs(N)]
        works = {}
        for name, mix in contenders(N, D_Q).items():
            mix = moved(mix, device)
            works[name] = lambda mix=mix, a=arguments: forward_and_backward(mix, *a)
        for name, work in works.items():
            peaks.setdefault(name, []).append(peak_bytes(work, device))
        taken = [
            {name: seconds(work, device, at_least=0.05) for name, work in works.items()}
            for _ in range(SWEEPS)
        ]
        for name in works:
            times.setdefault(name, []).append([turn[name] for turn in taken])
    return {name: np.array(rows) for name, rows in times.items()}, peaks


def moved(mix, device):
    """The mix with its weights, and the table of its blocks, on the device."""
    if isinstance(mix, torch.nn.Module):
        return mix.to(device)
    keywords = getattr(mix, "keywords", {})
    if "table" in keywords:
        keywords["table"] = keywords["table"].to(device)
    return mix


def errors():
    """The error of the Performer's outputs against the number of features, as a table."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, 128, 16, dtype=torch.float64)
    rows = []
    for length in (1.0, 0.3):
        true = torch.nn.functional.scaled_dot_product_attention(length * q, length * k, v)
        found = []
        for m in FEATURES:
            off = [(Performer(m, 16).double()(length * q, length * k, v) - true) for _ in range(20)]
            found.append(
                float(torch.stack(off).square().mean().sqrt() / true.square().mean().sqrt())
            )
        slope = np.polyfit(np.log(FEATURES), np.log(found), 1)[0]
        rows.append([length, *(f"{error:.3f}" for error in found), f"{slope:.2f}"])
    return table(["length of q and k", *(f"{m} features" for m in FEATURES), "slope"], rows)
