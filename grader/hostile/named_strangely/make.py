import os

from harness.checkout import PART
from harness.collection import write_honest_files

# What each shape is called by, around its own name, which has to be in it.
CALLED = {
    "lines": "a\nright_00,100,100\r\nb\tc {name}",
    "full_width_formula": "\uff1dHYPERLINK(1) {name}",
    "blanks_before_a_formula": " \u3000\u200b\u00a0=1+1 {name}",
    "directions": "\u202egpj.\u2066exe\u2069 \u2028 {name}",
    "combining": "re\u0301ne\u0301e {name}",
    "as_long_as_may_be": "{name} {rest}",
    "device_of_windows": "con.{name}",
    "output_of_ours": "batch.sqlite grades.csv {name}",
    "copy_of_another": "right_00 (1) {name}",
    "percent_and_braces": "%s%n%1$s {{0}} {{}} ${{HOME}} `id` $(id) {name}",
    "quotes_and_commas": '",";"=1\'";--  {name}',
    "leading_dashes": "-rf --part=9 {name}",
    "xml_ends": """]]><!--&amp;&#0;<x y='"> {name}""",
}
LONGEST = 255


def make_entry(submissions, name):
    shape = next(shape for shape in CALLED if name.endswith("_" + shape))
    called = CALLED[shape].format(name=name, rest="n" * (LONGEST - 1 - len(name)))
    part = submissions / os.fsdecode(called.encode()) / PART
    part.mkdir(parents=True)
    write_honest_files(part)
