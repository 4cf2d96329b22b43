"""HTML templates of the API reference."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{
  --paper: #fbfaf7; --shade: #f3f0e9; --ink: #1d1c1a; --soft: #6b6862; --hairline: #e7e3da; --accent: #b4441f;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --paper: #161514; --shade: #1f1d1b; --ink: #e6e3dd; --soft: #98938a; --hairline: #2b2926; --accent: #f08a5d;
  }}
}}
* {{ box-sizing: border-box }}
html {{ scroll-padding-top: 16px; -webkit-text-size-adjust: 100% }}
body {{
  background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif;
  margin: 0 auto; max-width: 76rem; padding: 32px 20px 64px;
}}
main {{ min-width: 0 }}
h1 {{ font-size: 28px; line-height: 1.3; margin: 0 0 .5em }}
h2 {{ font-size: 22px; line-height: 1.3; margin: 64px 0 0 }}
h3 {{ font: 600 15px/1.5 ui-monospace, monospace; margin: 0 0 8px; overflow-wrap: anywhere }}
h4 {{ font-size: 13px; font-weight: 600; line-height: 1.4; margin: 20px 0 4px }}
p {{ margin: 0 0 10px; max-width: 66ch; text-wrap: pretty }}
a {{ color: var(--accent) }}
code, pre {{ font: 13px/1.5 ui-monospace, monospace }}
code {{ overflow-wrap: anywhere }}
h3 b, nav b {{ color: var(--soft); font-weight: 400 }}
h3 a {{ color: inherit; text-decoration: none }}
h3 a:hover, h3 a:focus-visible {{ text-decoration: underline }}
var {{ color: var(--soft); font-style: normal }}
.soft, footer {{ color: var(--soft); font-size: 13px }}
article {{ border-top: 1px solid var(--hairline); margin-top: 24px; padding-top: 24px }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; table-layout: fixed; width: 100% }}
th, td {{ border-top: 1px solid var(--hairline); padding: 6px 16px 6px 0; text-align: left; vertical-align: top }}
th {{ font-weight: 400; width: 30% }}
th + td {{ width: 27% }}
tr:first-child > * {{ border-top: 0 }}
details {{ margin: 6px 0 }}
summary {{ color: var(--soft); cursor: pointer; font-size: 13px }}
pre {{ background: var(--shade); margin: 8px 0; max-height: 30em; overflow: auto; padding: 12px 16px }}
nav {{ margin-bottom: 24px }}
nav ul {{ list-style: none; margin: 0; padding: 0 }}
nav > ul > li {{ display: inline-block; margin: 0 16px 8px 0 }}
nav ul ul {{ display: none }}
:target {{ scroll-margin-top: 16px }}
article:target h3 {{ color: var(--accent) }}
footer {{ border-top: 1px solid var(--hairline); margin-top: 64px; padding-top: 16px }}
@media (min-width: 1100px) {{
  body {{ display: grid; gap: 56px; grid-template-columns: 20rem 1fr }}
  nav {{
    align-self: start; border-right: 1px solid var(--hairline); font-size: 13px; max-height: 100vh; overflow-y: auto;
    padding: 32px 16px 32px 0; position: sticky; top: 0; margin: -32px 0 0;
  }}
  nav > ul > li {{ display: block; margin: 0 0 16px }}
  nav > ul > li > a {{ color: inherit; font-weight: 600; text-decoration: none }}
  nav ul ul {{ display: block; margin-top: 4px }}
  nav ul ul a {{ color: inherit; display: block; font: 12px/1.5 ui-monospace, monospace; padding: 3px 0 3px 4.5em;
    text-decoration: none; text-indent: -4.5em }}
  nav ul ul b {{ display: inline-block; text-indent: 0; width: 4.5em }}
  nav ul ul a:hover, nav ul ul a:focus-visible {{ color: var(--accent) }}
}}
@media (max-width: 699px) {{
  table, tbody, tr, th, td, th + td {{ display: block; padding: 0; border: 0; width: auto; white-space: normal }}
  tr {{ border-top: 1px solid var(--hairline); padding: 8px 0 }}
  tr:first-child {{ border-top: 0 }}
  td:last-child {{ color: var(--soft) }}
}}
@media print {{ nav {{ display: none }} pre {{ max-height: none }} }}
</style>
</head>
<body>
<nav aria-label="Contents"><ul>
{contents}<li><a href="#errors">Errors</a></li><li><a href="#types">Types</a></li>
</ul></nav>
<main>
<h1>{title}</h1>
{about}
<p>The same for programs: <a href="{document}">openapi.json</a> (OpenAPI 3.1).</p>
{operations}
<section><h2 id="errors">Errors</h2>{errors}</section>
<section><h2 id="types">Types</h2>{types}</section>
<footer>Tidings {version}</footer>
</main>
</body>
</html>
"""

OPERATION = """<article id="{id}">
<h3><a href="#{id}"><b>{method}</b> {path}</a></h3>
<p>{summary} {description}</p>{access}
{parameters}{body}{answers}
<p class="soft">Errors: {errors}</p>
</article>
"""

TYPE = """<article id="type-{name}"><h3><a href="#type-{name}">{name}</a></h3><p>{description}</p>{fields}</article>
"""

ERRORS = """<p>An error has a JSON body with one member, <code>error_message</code>: what was wrong, and what would do.
It is written for people; programs go by the status and the code in <code>X-Error-Code</code>. A client whose
<code>Accept</code> has <code>application/problem+json</code> gets problem details (RFC 9457) with both.</p>
<div class=wide><table>{rows}</table></div>
<h3>Codes</h3>
<div class=wide><table>{codes}</table></div>"""
