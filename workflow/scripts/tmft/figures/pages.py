"""Tables as HTML pages that need no other file and no network; a click on a column's head sorts by it."""

from html import escape

import pandas as pd

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px sans-serif; color: #222; margin: 1em auto; max-width: 1300px; padding: 0 1em; }}
h1 {{ font-size: 1.4em; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 0; padding: 4px 10px; text-align: left; }}
th {{ background: white; border-bottom: 2px solid #888; cursor: pointer; position: sticky; top: 0; }}
th[aria-sort=ascending]::after {{ content: " ▲"; }}
th[aria-sort=descending]::after {{ content: " ▼"; }}
tbody tr:nth-child(even) {{ background: #f2f2f2; }}
.number {{ font-variant-numeric: tabular-nums; text-align: right; }}
</style>
{head}
</head>
<body>
<h1>{title}</h1>
{body}
<script>
for (const cell of document.querySelectorAll("td"))
  if (cell.textContent && !isNaN(cell.textContent)) cell.className = "number";
for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => {{
  const sign = head.ariaSort === "ascending" ? -1 : 1;
  const text = row => row.cells[head.cellIndex].textContent;
  const compare = (one, other) => text(one) - text(other) || text(one).localeCompare(text(other));
  const body = head.closest("table").tBodies[0];
  body.append(...[...body.rows].sort((one, other) => sign * compare(one, other)));
  for (const other of head.parentElement.cells) other.ariaSort = null;
  head.ariaSort = sign > 0 ? "ascending" : "descending";
}});
</script>
</body>
</html>
"""


def page(title: str, body: str, head: str = "") -> str:
    """A page with the HTML ``body``, and more elements for its ``head``."""
    return PAGE.format(title=escape(title), body=body, head=head)


def sortable_table(table: pd.DataFrame) -> str:
    """The table as HTML: columns of whole numbers without decimals, others with two, nothing for NaN."""
    shown = table.convert_dtypes().astype(object).map(_text).rename(columns=lambda name: name.replace("_", " "))
    return shown.to_html(index=False, border=0)


def _text(value: object) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)
