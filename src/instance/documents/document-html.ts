import { markdownHtml } from '../public/markdown-html.ts'

const DOMAIN = '%{domain}'

/** A document as HTML; `%{domain}` in it is the name of the server. */
export function documentHtml(text: string, domain: string): string {
  return markdownHtml(text.replaceAll(DOMAIN, () => domain))
}

export function namesServer(text: string): boolean {
  return text.includes(DOMAIN)
}
