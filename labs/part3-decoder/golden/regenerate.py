#!/usr/bin/env python3
"""Writes the golden vectors: inputs, weights and outputs of small Gemma-3 layers, computed by the model's published
implementation in the transformers library. README.md beside this file says what to install.

    python3 labs/part3-decoder/golden/regenerate.py

Everything runs in fp32 on the CPU with eager attention. The inputs come from fixed seeds, so that the same versions of
the libraries give the same files, but for the date.
"""

import datetime
import json
import pathlib
import platform

import torch
import transformers
from transformers import DynamicCache
from transformers.activations import ACT2FN
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.models.gemma3.configuration_gemma3 import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import (
    Gemma3DecoderLayer,
    Gemma3RMSNorm,
    Gemma3RotaryEmbedding,
    apply_rotary_pos_emb,
)

HERE = pathlib.Path(__file__).resolve().parent
LAYER_TYPES = ["sliding_attention", "full_attention"]
THETAS = {"sliding_attention": 10_000.0, "full_attention": 1_000_000.0}
# The names of the module's parameters, by those of the course.
WEIGHTS = {
    "input_norm": "input_layernorm",
    "q_proj": "self_attn.q_proj",
    "k_proj": "self_attn.k_proj",
    "v_proj": "self_attn.v_proj",
    "o_proj": "self_attn.o_proj",
    "q_norm": "self_attn.q_norm",
    "k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",
    "pre_feedforward_norm": "pre_feedforward_layernorm",
    "gate_proj": "mlp.gate_proj",
    "up_proj": "mlp.up_proj",
    "down_proj": "mlp.down_proj",
    "post_feedforward_norm": "post_feedforward_layernorm",
}
# Calls are the numbers of tokens of one forward each, all with one cache.
LAYERS = [
    {"name": "local_prefill", "type": "sliding_attention", "batch": 2, "calls": [13], "window": 5},
    {"name": "global_prefill", "type": "full_attention", "batch": 2, "calls": [13], "window": 5},
    {"name": "local_decode", "type": "sliding_attention", "batch": 2, "calls": [4, 1, 1, 1, 1, 1, 1, 1], "window": 5},
    {"name": "global_decode", "type": "full_attention", "batch": 3, "calls": [4, 1, 1, 1, 1], "window": 5},
    {"name": "local_chunks", "type": "sliding_attention", "batch": 1, "calls": [9, 3, 2, 1], "window": 4},
    # One key/value head for all queries, and heads that together are wider than the hidden size, as in 270M.
    {"name": "local_one_head", "type": "sliding_attention", "batch": 1, "calls": [12, 1], "window": 8,
     "hidden": 20, "intermediate": 36, "query_heads": 4, "key_value_heads": 1, "head_dim": 16},
    {"name": "global_one_head", "type": "full_attention", "batch": 1, "calls": [12, 1], "window": 8,
     "hidden": 20, "intermediate": 36, "query_heads": 4, "key_value_heads": 1, "head_dim": 16},
]  # fmt: skip
DEFAULT_SIZES = {"hidden": 24, "intermediate": 40, "query_heads": 4, "key_value_heads": 2, "head_dim": 8}


def numbers(tensor):
    """The elements in row-major order, each with the nine digits that tell any two fp32 numbers apart."""
    return [float(f"{value:.9g}") for value in tensor.detach().float().flatten().tolist()]


def config_of(case):
    sizes = {key: case.get(key, DEFAULT_SIZES[key]) for key in DEFAULT_SIZES}
    config = Gemma3TextConfig(
        vocab_size=16,
        hidden_size=sizes["hidden"],
        intermediate_size=sizes["intermediate"],
        num_hidden_layers=len(LAYER_TYPES),
        num_attention_heads=sizes["query_heads"],
        num_key_value_heads=sizes["key_value_heads"],
        head_dim=sizes["head_dim"],
        query_pre_attn_scalar=sizes["head_dim"],
        sliding_window=case["window"],
        layer_types=LAYER_TYPES,
        rope_parameters={kind: {"rope_type": "default", "rope_theta": theta} for kind, theta in THETAS.items()},
        attn_implementation="eager",
    )
    return config, sizes


def random_layer(config, index, generator):
    layer = Gemma3DecoderLayer(config, layer_idx=index).eval()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.normal_(generator=generator)
            if parameter.dim() == 2:
                parameter /= parameter.shape[1] ** 0.5
            else:
                parameter *= 0.3
                if "q_norm" in name or "k_norm" in name:
                    parameter += 0.5
    return layer


def layer_case(case, seed):
    generator = torch.Generator().manual_seed(seed)
    config, sizes = config_of(case)
    index = LAYER_TYPES.index(case["type"])
    layer = random_layer(config, index, generator)
    rotary = Gemma3RotaryEmbedding(config)
    local = case["type"] == "sliding_attention"
    make_mask = create_sliding_window_causal_mask if local else create_causal_mask
    cache = DynamicCache(config=config)
    calls = []
    first = 0
    for length in case["calls"]:
        hidden = torch.randn(case["batch"], length, config.hidden_size, generator=generator)
        positions = torch.arange(first, first + length)[None, :].expand(case["batch"], -1)
        mask = make_mask(config=config, inputs_embeds=hidden, attention_mask=None, past_key_values=cache,
                         position_ids=positions)  # fmt: skip
        with torch.no_grad():
            output = layer(hidden, position_embeddings=rotary(hidden, positions, case["type"]), attention_mask=mask,
                           position_ids=positions, past_key_values=cache)  # fmt: skip
        calls.append({"length": length, "first_position": first, "hidden": numbers(hidden), "output": numbers(output)})
        first += length
    parameters = dict(layer.named_parameters())
    kept = cache.layers[index]
    return {
        "name": case["name"],
        "batch": case["batch"],
        **sizes,
        "window": case["window"] if local else 0,
        "theta": THETAS[case["type"]],
        "weights": {name: numbers(parameters[f"{theirs}.weight"]) for name, theirs in WEIGHTS.items()},
        "calls": calls,
        # The last tokens of the cache, (batch, key_value_heads, kept, head_dim).
        "kept": kept.keys.shape[2],
        "keys": numbers(kept.keys),
        "values": numbers(kept.values),
    }


def rmsnorm_case(seed):
    generator = torch.Generator().manual_seed(seed)
    rows, width = 6, 20
    sizes = torch.tensor([1, 2e-3, 30, 5e-4, 0, 0.1])[:, None]
    x = torch.randn(rows, width, generator=generator) * sizes
    norm = Gemma3RMSNorm(width, eps=1e-6)
    with torch.no_grad():
        norm.weight.normal_(std=0.3, generator=generator)
        return {"width": width, "x": numbers(x), "weight": numbers(norm.weight), "y": numbers(norm(x))}


def rope_case(kind, seed):
    generator = torch.Generator().manual_seed(seed)
    batch, length, heads, head_dim, first = 2, 3, 2, 16, 1000
    config, _ = config_of({"window": 5, "head_dim": head_dim})
    positions = torch.arange(first, first + length)[None, :]
    x = torch.randn(batch, length, heads, head_dim, generator=generator)
    cos, sin = Gemma3RotaryEmbedding(config)(x, positions, kind)
    y, _ = apply_rotary_pos_emb(x, x, cos, sin, unsqueeze_dim=2)
    return {"batch": batch, "length": length, "heads": heads, "head_dim": head_dim, "first_position": first,
            "theta": THETAS[kind], "x": numbers(x), "y": numbers(y)}  # fmt: skip


def geglu_case(seed):
    generator = torch.Generator().manual_seed(seed)
    gate = 3 * torch.randn(200, generator=generator)
    up = torch.randn(200, generator=generator)
    activation = ACT2FN[Gemma3TextConfig().hidden_activation]
    return {"gate": numbers(gate), "up": numbers(up), "out": numbers(activation(gate) * up)}


def write(name, document):
    made_by = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "date": datetime.date.today().isoformat(),
    }
    text = json.dumps({"made_by": made_by, **document}, separators=(",", ":"))
    (HERE / name).write_text(text.replace('],"', '],\n"').replace("},{", "},\n{") + "\n")


def main():
    torch.set_num_threads(1)
    write("layers.json", {"layers": [layer_case(case, 100 + i) for i, case in enumerate(LAYERS)]})
    write(
        "parts.json",
        {
            "rmsnorm": rmsnorm_case(1),
            "rope": [rope_case(kind, 2) for kind in LAYER_TYPES],
            "geglu": geglu_case(3),
        },
    )


if __name__ == "__main__":
    main()
