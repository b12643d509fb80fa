import os

from harness.checkout import PART
from harness.collection import write_honest_files


def hand_in(submissions, called):
    part = submissions / os.fsdecode(called if isinstance(called, bytes) else called.encode()) / PART
    part.mkdir(parents=True)
    write_honest_files(part)


def make_entry_lines(submissions, name):
    hand_in(submissions, f"a\nright_00,100,100\r\nb\tc {name}")


def make_entry_full_width_formula(submissions, name):
    hand_in(submissions, f"\uff1dHYPERLINK(1) {name}")


def make_entry_blanks_before_a_formula(submissions, name):
    hand_in(submissions, f" \u3000\u200b\u00a0=1+1 {name}")


def make_entry_directions(submissions, name):
    hand_in(submissions, f"\u202egpj.\u2066exe\u2069 \u2028 {name}")


def make_entry_combining(submissions, name):
    hand_in(submissions, f"re\u0301ne\u0301e {name}")


def make_entry_as_long_as_may_be(submissions, name):
    hand_in(submissions, name + " " + "n" * (254 - len(name)))


def make_entry_device_of_windows(submissions, name):
    hand_in(submissions, f"con.{name}")


def make_entry_output_of_ours(submissions, name):
    hand_in(submissions, f"batch.sqlite grades.csv {name}")


def make_entry_copy_of_another(submissions, name):
    hand_in(submissions, f"right_00 (1) {name}")


def make_entry_percent_and_braces(submissions, name):
    hand_in(submissions, f"%s%n%1$s {{0}} {{}} ${{HOME}} `id` $(id) {name}")


def make_entry_quotes_and_commas(submissions, name):
    hand_in(submissions, f'",";"=1\'";--  {name}')


def make_entry_leading_dashes(submissions, name):
    hand_in(submissions, f"-rf --part=9 {name}")


def make_entry_xml_ends(submissions, name):
    hand_in(submissions, f"]]><!--&amp;&#0;<x y='\"> {name}")
