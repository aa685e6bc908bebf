/** One way to write signs as something else, read back. Each takes time in step with the length of the text. */
type Reader = (text: string) => string

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const LAST_CODE_POINT = 0x10ffff

/** JSON, also within a text of JSON. Many writers escape more than they have to: "=" and "&" in Java and Go, "/" in PHP. */
function fromJson(text: string): string {
  return text.replace(/\\+(?:u([0-9a-f]{4})|(["\\/]))/gi, (_, hex?: string, sign = '') =>
    hex === undefined ? sign : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function fromHtml(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/gi,
    (written, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] as string
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : written
    },
  )
}

function fromAddress(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (written) => {
    try {
      return decodeURIComponent(written)
    } catch {
      return written
    }
  })
}

/** By what a text that was made for a program or a page may be written. */
export const READERS: readonly Reader[] = [fromJson, fromHtml, fromAddress]
