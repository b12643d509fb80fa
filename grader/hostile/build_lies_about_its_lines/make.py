from harness.checkout import PART, ROOT


def make(submission, part, file):
    hidden = ROOT / "solutions" / PART / "hidden.toml"
    file.write_text(f'#line 1 "{hidden}"\nint one = "not a number";\n'
                    f'#line 1 "/etc/passwd"\nint two = "not a number";\n'
                    f'#line 4294967295 "\\033[2J<script>alert(1)</script>"\nint three = "not a number";\n')
