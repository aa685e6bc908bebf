import { escapeHtml } from './escape-html.ts'

/** Text that was escaped, or that we wrote ourselves. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

type Part = Html | string | number | undefined | null | false | readonly Part[]

/** `html` escapes whatever is put into it, unless it is Html already. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0] as string
  parts.forEach((part, index) => {
    text += render(part) + (strings[index + 1] as string)
  })
  return new Html(text)
}

function render(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === undefined || part === null || part === false) return ''
  if (Array.isArray(part)) return part.map(render).join('')
  return escapeHtml(String(part))
}

// Contrast of text and links is at least 7:1 in both schemes.
const STYLE = new Html(`
:root{color-scheme:light dark;--ink:#1b1b1f;--paper:#fff;--faint:#f3f3f6;--line:#d5d5dd;--soft:#4a4a55;--link:#0b4fa8}
@media(prefers-color-scheme:dark){:root{--ink:#ececf1;--paper:#16161a;--faint:#212127;--line:#3a3a44;--soft:#b9b9c6;--link:#9cc4ff}}
*{box-sizing:border-box}
body{margin:0;overflow-wrap:anywhere;font:1rem/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
main,header,nav{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:1.9rem;margin:0 0 .5rem}
h2{margin:3rem 0 .5rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:0;display:inline}
h4{margin:1rem 0 .25rem;font-size:.95rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{background:var(--faint);border:1px solid var(--line);border-radius:.4rem;padding:.75rem;overflow-x:auto}
details{border:1px solid var(--line);border-radius:.5rem;margin:.6rem 0;padding:.6rem .9rem}
summary{cursor:pointer}
summary code{font-weight:600}
table{border-collapse:collapse;width:100%;table-layout:fixed;overflow-wrap:anywhere}th:first-child{width:28%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
.soft{color:var(--soft)}
nav ul{list-style:none;padding:0;columns:16rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}
`)

export function htmlPage(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body><a class="skip" href="#content">Skip to the content</a>
${body}</body></html>
`.text
}
