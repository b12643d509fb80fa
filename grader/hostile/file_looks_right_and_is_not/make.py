def make(submission, part, file):
    text = file.read_text()
    file.write_text(text.replace("elements * bytes_per_element}", "/*\u202e } \u2066*/ 1 /*\u2069 */}"))
