"""Texts that nobody trusts, and numbers, as people read them."""

import html
import unicodedata


def visible(text):
    """The text with what would act on a terminal, or rearrange lines, in a form that is only seen."""
    shown = []
    for letter in text.replace("\r\n", "\n"):
        code = ord(letter)
        if letter in "\n\t":
            shown.append(letter)
        elif code < 0x20:
            shown.append(chr(0x2400 + code))
        elif code == 0x7F:
            shown.append("\u2421")
        elif unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") or code in (0xFFFE, 0xFFFF):
            shown.append("\ufffd")
        else:
            shown.append(letter)
    return "".join(shown)


def one_line(text):
    return " ".join(visible(text).split())


def escaped(text):
    """visible(), as the text of an HTML element or the value of an attribute."""
    return html.escape(visible(text), quote=True)


def microseconds(value):
    """"483 us", "1.05 ms": three significant digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1.0)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value / size < 999.5 else f"{value / size:.0f} {unit}"
    return f"{value * 1e3:.3g} ns"


def band(time_us, low_us, high_us):
    """"483 us, 420 to 560": the ends in the unit of the time."""
    time = microseconds(time_us)
    size = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[time.split()[1]]
    return f"{time}, {low_us / size:.3g} to {high_us / size:.3g}"


def points(value):
    return f"{value:.1f}".removesuffix(".0")
