/** The frame of a page behind a link: every state it can be in, of which the script shows one. */
import { type Html, html, htmlPage } from '../../platform/http/pages/html.ts'

export interface AccountPage {
  title: string
  /** Where and as what the form is sent, and what the button says meanwhile. */
  send: { path: string; type: string; operationId: string; busy: string }
  /** Asked with the token before the form is shown. */
  lookup?: { path: string; type: string }
  /** The least number of characters of a password, where one is chosen. */
  shortest?: number
  form: Html
  button: string
  done: Html
  /** What to do about a link that does not work any more, or that is not there. */
  badLink: Html
  noLink: Html
}

export function accountPage(page: AccountPage): string {
  const { title, send, lookup, shortest } = page
  return htmlPage(
    `${title} – Commonplace`,
    html`<link rel="stylesheet" href="/pages/account.css">
<header><h1>${title}</h1></header>
<main id="content">
<noscript><div class="notice wrong"><h2>This page needs JavaScript</h2>
<p>Allow JavaScript for this address and open the link again. The script comes from this server and talks to it alone.</p>
<p>Without it, a program can do the same: <a href="/docs#${send.operationId}"><code>POST ${send.path}</code></a> with what the link has behind <code>#token=</code>.</p></div></noscript>
<div id="problem" class="notice wrong" role="alert"></div>
<p data-state="working" role="status" hidden>One moment …</p>
<section data-state="no-link" hidden><h2 tabindex="-1">Open this page by its link</h2>${page.noLink}</section>
<section data-state="bad-link" hidden><h2 tabindex="-1">This link does not work</h2>${page.badLink}</section>
<section data-state="stuck" hidden><button type="button" id="again">Try again</button></section>
<form data-state="form" method="post" novalidate hidden data-path="${send.path}" data-type="${send.type}" data-busy="${send.busy}"${lookup && html` data-lookup="${lookup.path}" data-lookup-type="${lookup.type}"`}${shortest && html` data-shortest="${shortest}"`}>
${page.form}
<button type="submit">${page.button}</button>
</form>
<section data-state="done" hidden>${page.done}</section>
</main>
<script src="/pages/account.js" defer></script>`,
  )
}

/** Typed twice, because nobody sees what they type. */
export function passwordFields(shortest: number): Html {
  return html`<label for="password">Password</label>
<input class="field" id="password" name="password" type="password" autocomplete="new-password" required aria-describedby="rules" data-password data-send>
<p class="hint" id="rules">At least ${shortest} characters. A few unusual words in a row are good; your email address or a word that many people use is not.</p>
<label for="repeated">Password, again</label>
<input class="field" id="repeated" type="password" autocomplete="new-password" required data-password>
<label class="tick" for="reveal"><input id="reveal" type="checkbox"> Show what I type</label>`
}

/** Shown when the server asks for it: only an account that was in use before has a second factor. */
export function codeField(): Html {
  return html`<div data-code hidden><label for="totp">Code of your second factor</label>
<input class="field" id="totp" name="totp" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" aria-describedby="code-hint" data-send>
<p class="hint" id="code-hint">If you have neither the app nor a recovery code left, ask an administrator to reset your second factor.</p></div>`
}
