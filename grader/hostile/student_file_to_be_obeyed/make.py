def make(submission, _part, _file):
    (submission / "student.toml").write_text("id = \"=1+1\"\nname = \"\\u001b[2J<script>alert(1)</script>\\u202e\"\nemail = \"@SUM(1)\"\n")
