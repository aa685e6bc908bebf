import { html, htmlPage } from './html.ts'

/** Says what this is to a person who opened the address, and no more than is true. */
export function landingPage(version: string): string {
  return htmlPage(
    'Commonplace',
    html`<header><h1>Commonplace</h1>
<p>One server for what a community or company knows: notes, people, a public face, and results that must arrive.</p></header>
<main id="content">
<p>It is running, version ${version}. The web console is not part of this version; everything is done through the interface:</p>
<ul>
<li><a href="/docs">How to call it</a>: every operation, with examples</li>
<li><a href="/openapi.json">The same as an OpenAPI 3.1 document</a></li>
<li><a href="/readyz">Whether it can serve requests</a></li>
</ul>
</main>`,
  )
}
