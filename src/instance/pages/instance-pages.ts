/** The same data for people who opened an address: plain pages, without scripts and without pictures. */
import { Html, html, htmlPage } from '../../platform/http/pages/html.ts'
import { instanceDomain } from '../instance-domain.ts'
import { accountDocument } from '../public/account-document.ts'
import type { ContactUser } from '../public/instance-data.ts'
import type { InstanceView } from '../public/instance-face.ts'
import {
  type Dated,
  extendedDescription,
  privacyPolicy,
  type TermsDocument,
  type TextDocument,
  termsOfService,
} from '../public/text-documents.ts'

export function aboutPage(view: InstanceView, baseUrl: string): string {
  const { settings, rules, contact, numbers } = view.data
  const { content } = extendedDescription(view.data, baseUrl).document
  const account = contact && accountDocument(contact, view.data, baseUrl)
  return frame(
    view,
    baseUrl,
    'About',
    html`
${settings.description !== '' && html`<p>${settings.description}</p>`}
${content !== '' && html`<section>${belowTitle(content)}</section>`}
<h2 id="rules">Rules</h2>
${rules.length === 0 ? html`<p>No rules are written down.</p>` : html`<ol>${rules.map(({ text, hint }) => html`<li>${text}${hint !== '' && html`<br><span class="soft">${hint}</span>`}</li>`)}</ol>`}
<h2 id="contact">Contact</h2>
${account && html`<p><a href="${account.url}">${account.display_name || account.acct}</a>${account.note !== '' && html`, ${contact.title}`}</p>`}
${settings.contact.email !== '' && html`<p><a href="mailto:${settings.contact.email}">${settings.contact.email}</a></p>`}
${account === null && settings.contact.email === '' && html`<p>No contact is named.</p>`}
${
  !settings.whitelist_mode &&
  html`<h2 id="numbers">Numbers</h2>
<dl><dt>Users</dt><dd>${numbers.userCount}, of whom ${numbers.activeMonth} were here in the last four weeks</dd>
<dt>Notes</dt><dd>${numbers.statusCount}</dd></dl>`
}`,
  )
}

export function privacyPolicyPage(view: InstanceView, baseUrl: string): string {
  return textPage(view, baseUrl, 'Privacy policy', privacyPolicy(view.data, baseUrl).document)
}

/** There must be some. */
export function termsPage(view: InstanceView, baseUrl: string): string {
  const { document } = termsOfService(view.data, baseUrl, view.today) as Dated<TermsDocument>
  return textPage(view, baseUrl, 'Terms of service', document, termsNote(document))
}

export function accountPage(view: InstanceView, contact: ContactUser, baseUrl: string): string {
  const account = accountDocument(contact, view.data, baseUrl)
  const robots = view.data.settings.account.noindex && html`<meta name="robots" content="noindex">`
  return frame(
    view,
    baseUrl,
    account.display_name || `@${account.acct}`,
    html`${robots}
<p class="soft">@${account.acct}@${instanceDomain(view.data.settings, baseUrl)}</p>
${contact.title !== null && html`<p>${contact.title}</p>`}
<p>Answers for this server. Here since ${account.created_at.slice(0, 10)}.</p>
${account.fields.length > 0 && html`<dl>${account.fields.map(({ name, value }) => html`<dt>${name}</dt><dd>${new Html(value)}</dd>`)}</dl>`}`,
  )
}

export function missingPage(view: InstanceView, baseUrl: string): string {
  return frame(view, baseUrl, 'Not found', html`<p>There is nothing at this address.</p>`)
}

/** The page has a title of its own; headings inside stand below it. */
function belowTitle(content: string): Html {
  return new Html(content.replace(/<(\/?)h([1-5])>/g, (_, slash, level) => `<${slash}h${Number(level) + 1}>`))
}

function textPage(
  view: InstanceView,
  baseUrl: string,
  title: string,
  { content, updated_at }: TextDocument,
  note?: Html,
): string {
  return frame(
    view,
    baseUrl,
    title,
    html`${note}
<section>${belowTitle(content)}</section>
<p class="soft">Last changed on <time datetime="${updated_at}">${updated_at.slice(0, 10)}</time>.</p>`,
  )
}

function termsNote({ effective, effective_date: date, succeeded_by: next }: TermsDocument): Html {
  return html`<p>${effective ? 'In effect since' : 'Take effect on'} <time datetime="${date}">${date}</time>.${
    next !== null && html` They are succeeded by others on <time datetime="${next}">${next}</time>.`
  }</p>`
}

function frame(view: InstanceView, baseUrl: string, title: string, content: Html): string {
  const { settings, terms } = view.data
  return htmlPage(
    title === settings.title ? title : `${title} – ${settings.title}`,
    html`<header><p class="soft">${settings.title}, ${instanceDomain(settings, baseUrl)}</p><h1>${title}</h1></header>
<main id="content">${content}</main>
<nav aria-label="Pages of this server"><ul>
<li><a href="/about">About</a></li>
<li><a href="/privacy-policy">Privacy policy</a></li>
${terms.length > 0 && html`<li><a href="/terms-of-service">Terms of service</a></li>`}
</ul></nav>`,
  )
}
