import { markdownHtml } from '../public/markdown-html.ts'

/** A document as HTML; `%{domain}` in it is the name of the server. */
export function documentHtml(text: string, domain: string): string {
  return markdownHtml(text.replaceAll('%{domain}', () => domain))
}
