"""What a cell shows: each thing as HTML and as plain text, for terminals and screen readers."""

import html

from IPython.display import display

from rooflab.words import escaped, visible

_STYLE = ("font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:0.9em;line-height:1.4;"
          "white-space:pre-wrap;margin:0.4em 0;background:none;border:0;padding:0;color:inherit")
_COLOURS = {"error": "#c62828", "warning": "#b26a00", "note": "#1565c0", "fine": "#2e7d32"}


def show(text, markup):
    display({"text/plain": text, "text/html": markup}, raw=True)


def text_block(text, kind=None):
    """Text as it is; `kind` gives it a bar at its side, as a further sign of what its words say."""
    bar = f";border-left:4px solid {_COLOURS[kind]};padding-left:0.8em" if kind else ""
    return f'<pre style="{_STYLE}{bar}">{escaped(text)}</pre>'


def show_text(text, kind=None):
    show(visible(text), text_block(text, kind))


def show_printed(text):
    """What a program printed, as a stream: frontends escape it, and `visible` leaves them no codes to act on."""
    if text:
        print(visible(text), end="" if text.endswith("\n") else "\n")


def show_page(page, title, scripts):
    """A whole page in a frame of its own, which reaches neither the notebook nor its server."""
    rights = "allow-scripts" if scripts else ""
    frame = (f'<iframe title="{escaped(title)}" sandbox="{rights}" srcdoc="{html.escape(page, quote=True)}" '
             'style="width:100%;height:36em;border:1px solid #8888;border-radius:4px;background:white;resize:vertical;'
             'overflow:auto"></iframe>')
    show(f"({title}: shown in a browser)", frame)


def show_table(caption, head, rows):
    """A table; columns from the second on are aligned to the right where they hold numbers."""
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    lines = ["  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
    cell_style = "text-align:left;padding:0.15em 1em 0.15em 0;vertical-align:top"
    cells = [f'<th scope="col" style="{cell_style}">{escaped(cell)}</th>' for cell in head]
    body = "".join("<tr>" + "".join(f'<td style="{cell_style}">{escaped(str(cell))}</td>' for cell in row) + "</tr>"
                   for row in rows)
    table = (f'<table style="margin:0.4em 0;border-collapse:collapse"><caption style="text-align:left;caption-side:top;'
             f'padding:0">{escaped(caption)}</caption><thead><tr>{"".join(cells)}</tr></thead>'
             f"<tbody>{body}</tbody></table>")
    show(visible("\n".join([caption, *lines])), table)
