import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cleanHtml } from './clean-html.ts'
import { markdownHtml } from './markdown-html.ts'

const TAGS = 'p br h1 h2 h3 h4 h5 h6 ul ol li strong em del code pre blockquote hr table thead tbody tr th td'.split(
  ' ',
)
const LINK = /^<a href="(?:https?:\/\/|mailto:)[^"<>]+" rel="nofollow noopener noreferrer">$/i

/** What looks like markup in the result, to anything that reads HTML. */
function assertOnlyAllowed(html: string): void {
  for (const [tag] of html.matchAll(/<[^>]*>?/g)) {
    const name = /^<\/?([a-z0-9]+)>$/.exec(tag)?.[1]
    const isFine = (name !== undefined && (TAGS.includes(name) || tag === '</a>')) || LINK.test(tag)
    assert.ok(isFine, `${tag} in ${html}`)
  }
}

function assertBalanced(html: string): void {
  const open: string[] = []
  for (const [, slash, name] of html.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
    if (name === 'br' || name === 'hr') continue
    if (slash === '') open.push(name as string)
    else assert.equal(open.pop(), name, html)
  }
  assert.deepEqual(open, [], html)
}

const PIECES = fc.constantFrom(
  '<script>', '</script>', '<img src=x onerror=alert(1)>', '<a href="javascript:x">', '<a href="https://a.b">', "<a href='http://c'>",
  '<p onclick="x">', '<p>', '</p>', '<br/>', '<table>', '</table>', '<!--', '-->', '<![CDATA[', '&lt;', '&#x3c;', '&', '"', "'", '<', '>',
  '[a](javascript:alert(1))', '[b](https://example.org "t")', '[c](data:text/html,x)', '[d](//evil.example)', '[e](/about)', '![f](https://x/y.png)',
  '<https://example.org/?a=1&b=2>', '<mailto:a@b.c>', '**', '_', '~~', '`', '```\n', '\n', '\n\n', '# ', '> ', '- ', '1. ', '| a | b |\n|---|:-:|\n| ', '---\n',
  '[r]: https://example.org\n', '[r]', '\\', '\u0000', '\u202e', '\ud800',
) // biome-ignore format: a list of pieces

const hostile = fc.oneof(
  fc
    .array(fc.oneof(PIECES, fc.string({ maxLength: 8, unit: 'binary' })), { maxLength: 30 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
)

describe('markdown as HTML', () => {
  test('no tag and no attribute outside the list, whatever the text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const html = markdownHtml(text)
        assertOnlyAllowed(html)
        assertBalanced(html)
      }),
      { numRuns: 2_000 },
    )
  })

  test('the parts of a document', () => {
    const text =
      '# A *b*\n\nOne\ntwo  \nthree ~~x~~ `<c>`\n\n- x\n- y\n\n1. z\n\n> q\n\n---\n\n```js\na < b\n```\n\n| h |\n|:-:|\n| d |'
    assert.equal(
      markdownHtml(text),
      '<h1>A <em>b</em></h1>\n<p>One\ntwo<br>\nthree <del>x</del> <code>&lt;c&gt;</code></p>\n<ul><li>x</li>\n<li>y</li>\n</ul>\n' +
        '<ol><li>z</li>\n</ol>\n<blockquote><p>q</p>\n</blockquote>\n<hr>\n<pre><code>a &lt; b\n</code></pre>\n' +
        '<table><thead><tr><th>h</th>\n</tr>\n</thead>\n<tbody><tr><td>d</td>\n</tr>\n</tbody>\n</table>',
    )
  })

  test('links to the web and to addresses only, and what a picture shows as text', () => {
    const rel = 'rel="nofollow noopener noreferrer"'
    assert.equal(
      markdownHtml('[a](https://b.example/?x=1&y="2")'),
      `<p><a href="https://b.example/?x=1&amp;y=%222%22" ${rel}>a</a></p>`,
    )
    assert.equal(
      markdownHtml('<mailto:a@b.example>'),
      `<p><a href="mailto:a@b.example" ${rel}>mailto:a@b.example</a></p>`,
    )
    for (const target of [
      'javascript:x',
      'JaVaScRiPt:x',
      'data:text/html,x',
      'vbscript:x',
      '//b.example',
      '/about',
      '#x',
      'ftp://b.example',
    ]) {
      assert.ok(!markdownHtml(`[a](${target})`).includes('<a'), target)
    }
    assert.equal(markdownHtml('![a *b*](https://c.example/d.png)'), '<p>a b</p>')
    assert.equal(markdownHtml('<b>bold</b>'), '<p>&lt;b&gt;bold&lt;/b&gt;</p>')
  })

  test('a text made to be slow is not', () => {
    for (const piece of ['[', '![', '*a_', '> ', '`', '<', '(', '|a', '- ', '&#', '\\[']) {
      assertOnlyAllowed(markdownHtml(piece.repeat(20_000)))
    }
  })
})

describe('HTML of an administrator', () => {
  test('no tag and no attribute outside the list, whatever the text; nothing is left open', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const html = cleanHtml(text)
        assertOnlyAllowed(html)
        assertBalanced(html)
        assert.equal(cleanHtml(html), html, 'what is clean stays as it is')
      }),
      { numRuns: 2_000 },
    )
  })

  test('keeps what is allowed and shows the rest as text', () => {
    assert.equal(cleanHtml('<p class="x">A &amp; <STRONG>b</STRONG><br/>'), '<p>A &amp; <strong>b</strong><br></p>')
    assert.equal(cleanHtml('<script>x</script>'), '&lt;script&gt;x&lt;/script&gt;')
    assert.equal(cleanHtml('<a href="javascript:x">a</a>'), 'a')
    assert.equal(cleanHtml('1 < 2 & 3'), '1 &lt; 2 &amp; 3')
    assert.equal(
      cleanHtml('<a onclick=x href="https://b.example/?a=1&amp;b=2">c'),
      '<a href="https://b.example/?a=1&amp;b=2" rel="nofollow noopener noreferrer">c</a>',
    )
  })

  test('keeps a link whose address has no quotation marks around it', () => {
    const link = '<a href="https://b.example/?a=1" rel="nofollow noopener noreferrer">c</a>'
    assert.equal(cleanHtml('<a href=https://b.example/?a=1 target=_blank>c</a>'), link)
    assert.equal(cleanHtml('<a href=javascript:x>c</a>'), 'c')
  })

  test('a text made to be slow is not', () => {
    for (const piece of ['<', '<a', '<a href=', '<p>', '</p>', '&', '&#', '<p ', '"'])
      assertOnlyAllowed(cleanHtml(piece.repeat(20_000)))
  })
})
