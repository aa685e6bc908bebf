import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromIpv4, parseIp, parseRange } from './ip-address.ts'
import { createIpFilter, ipFilterOf } from './ip-filter.ts'

const filter = createIpFilter([])

/** First and last address of every denied range of IPv4, and its neighbours that are free. */
const IPV4_RANGES: [first: string, last: string, before: string, after: string][] = [
  ['0.0.0.0', '0.255.255.255', '', '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', ''],
]

const IPV6_RANGES: typeof IPV4_RANGES = [
  ['::', '::ffff:ffff', '', '::1:0:0'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '64:ff9b:0:ffff:ffff:ffff:ffff:ffff', '64:ff9b:2::'],
  ['100::', '100::ffff:ffff:ffff:ffff', 'ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '100:0:0:1::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff::', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fbff:ffff::', 'fe00::'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe7f:ffff::', ''],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', ''],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', ''],
]

test('every denied range is denied from its first to its last address and no further', () => {
  for (const [first, last, before, after] of [...IPV4_RANGES, ...IPV6_RANGES]) {
    for (const denied of [first, last]) assert.equal(filter.isDenied(denied), true, denied)
    for (const free of [before, after].filter((text) => text !== '')) assert.equal(filter.isDenied(free), false, free)
  }
})

test('no spelling of loopback, metadata or private addresses passes', () => {
  const spellings = [
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '0x7f.1',
    '0x7f.0x0.0x0.0x1',
    '017700000001',
    '0177.0.0.1',
    '0177.0.0.01',
    '00000177.0.0.0x1',
    '127.0.0.1.',
    '127.0x000001',
    '0',
    '0.',
    '0x',
    '00',
    '0x0.0',
    '2852039166', // 169.254.169.254
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '025177524776',
    '169.254.43518',
    '169.16689662',
    '0xA9.254.0251.254',
    '3232235777', // 192.168.1.1
    '167772161', // 10.0.0.1
    '4294967295',
    '::',
    '0:0:0:0:0:0:0:0',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::0001',
    '[::1]',
    '::1%lo',
    '::1%25lo',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::FFFF:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:0001',
    '0:0:0:0:0:ffff:127.0.0.1',
    '[::ffff:169.254.169.254]',
    '::ffff:a9fe:a9fe%eth0',
    '::ffff:0:127.0.0.1',
    '::ffff:0:7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:0:0:0:0:10.0.0.1',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2002:7f00:0001:0:0:0:0:1',
    '2002:a9fe:a9fe::1',
    '2002:c0a8:101:ffff::8.8.8.8',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    'fe80::1%eth0',
    'fe80::1%25eth0',
    'FE80::A9FE:A9FE',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
  ]
  for (const spelling of spellings) assert.equal(filter.isDenied(spelling), true, spelling)
})

test('no spelling of loopback passes as the host of a URL', () => {
  const hosts = [
    '127.1',
    '0x7f.1',
    '017700000001',
    '2130706433',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '127%2e0%2E0%2e1',
    '127。0。0。1',
    '127．0．0．1',
    '127｡0｡0｡1',
    '①②⑦.⓪.⓪.①',
    '１２７.0.0.1',
    '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
    '0𝕏7f.1',
    '0ⓧ7f.1',
    '127.0.0.1\u00ad',
    '0',
    '[::1]',
    '[::]',
    '[0:0::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
  ]
  for (const host of hosts) {
    for (const url of [`https://${host}/`, `https://${host}:8443`, `https://ada@${host}?x`]) {
      const parsed = URL.parse(url)
      assert.equal(parsed === null || filter.isDenied(parsed.hostname), true, url)
    }
  }
})

test('public addresses pass, also inside of others', () => {
  const spellings = [
    '8.8.8.8',
    '134744072',
    '0x08080808',
    '010.8.8.8',
    '1.1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    '2606:4700::1111',
    '[2606:4700::1111]',
    '2a00:1450:4001:81b::200e',
  ]
  for (const spelling of spellings) assert.equal(filter.isDenied(spelling), false, spelling)
})

test('a name is not denied before it is resolved; what looks like an address and is none is', () => {
  for (const name of ['localhost', 'example.org', 'example.org.', '1.example', 'a-1', '0x7g', 'x1.2a', '']) {
    assert.equal(filter.isDenied(name), false, name)
  }
  const broken = ['256.0.0.1', '1.2.3.4.5', '08.0.0.1', '4294967296', '127.0.0.0x', 'example.1', '1..1', '0x100000000']
  const tooLarge = ['8.256.8.8', '8.8.8.256', '8.8.65536', '8.16777216', '1.2.3.4.0']
  const named = ['1.2.3.4.5.', 'example.1.', 'example.0XA', 'example.0xab.']
  const ipv6 = [':::', '::1::', '::ffff:0177.0.0.1', '[::1', '12345::', '1:2:3', '%eth0:1']
  for (const text of [...broken, ...tooLarge, ...named, ...ipv6]) {
    assert.equal(filter.isDenied(text), true, text)
  }
})

test('any address of IPv4 is judged in any spelling like in its dotted one', () => {
  const near = IPV4_RANGES.flatMap((texts) => texts.filter((text) => text !== '')).map(numberOf)
  const address = fc.oneof(fc.constantFrom(...near), fc.integer({ min: 0, max: 0xffff_ffff }))
  const radix = fc.constantFrom(8, 10, 16)
  const style = fc.record({
    parts: fc.integer({ min: 1, max: 4 }),
    radixes: fc.tuple(radix, radix, radix, radix),
    zeros: fc.nat({ max: 5 }),
    isUpper: fc.boolean(),
    dot: fc.constantFrom('', '.'),
  })
  const allowing = createIpFilter(['10.0.0.0/9', '192.168.1.1', '::/0'])
  fc.assert(
    fc.property(address, style, (ipv4, { parts, radixes, zeros, isUpper, dot }) => {
      const spelled = spell(ipv4, parts, radixes, zeros)
      const text = (isUpper ? spelled.toUpperCase() : spelled) + dot
      const high = Math.floor(ipv4 / 65_536).toString(16)
      const low = (ipv4 % 65_536).toString(16)
      for (const form of [
        text,
        `::ffff:${dotted(ipv4)}`,
        `[::ffff:${high}:${low}]`,
        `::ffff:0:${high}:${low}`,
        `64:ff9b::${dotted(ipv4)}%1`,
        `2002:${high}:${low}::1`,
      ]) {
        assert.equal(filter.isDenied(form), filter.isDenied(dotted(ipv4)), form)
        assert.equal(allowing.isDenied(form), allowing.isDenied(dotted(ipv4)), form)
      }
      assert.equal(parseIp(text), fromIpv4(ipv4), text)
    }),
  )
})

test('reads IPv6 as a URL does', () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const { hostname } = new URL(`http://[${text}]`)
      assert.notEqual(parseIp(text), undefined)
      assert.equal(parseIp(hostname), parseIp(text), text)
      assert.equal(filter.isDenied(hostname), filter.isDenied(text))
    }),
  )
})

test('reads IPv4 as a URL does', () => {
  const part = fc.oneof(
    fc.nat({ max: 300 }).map(String),
    fc.string({ unit: fc.constantFrom(...'0123456789xaf'), maxLength: 11 }),
  )
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const text = parts.join('.')
      const hostname = URL.parse(`http://${text}/`)?.hostname ?? ''
      const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(hostname)
      assert.equal(parseIp(text), isAddress ? fromIpv4(numberOf(hostname)) : undefined, text)
    }),
  )
})

test('judges whatever text comes without failing', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdefx.:%[]/é') }), (text) => {
      assert.equal(typeof filter.isDenied(text), 'boolean')
    }),
  )
})

test('what is opted in passes and nothing beside it', () => {
  const cases: [cidr: string, passes: string[], denied: string[]][] = [
    ['10.1.0.0/16', ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '0xa010203', '64:ff9b::10.1.2.3'], ['10.2.0.0']],
    ['127.0.0.1', ['127.0.0.1', '127.1', '::ffff:127.0.0.1', '2002:7f00:1::'], ['127.0.0.2', '::1']],
    ['127.0.0.1/32', ['127.0.0.1'], ['127.0.0.2']],
    ['::1', ['::1', '[::1]', '::1%lo'], ['::', '::2', '127.0.0.1']],
    ['fd00::/8', ['fd00::1', 'fdff::1'], ['fc00::1', 'fe80::1']],
    ['::ffff:10.0.0.0/104', ['10.9.9.9', '::ffff:10.9.9.9'], ['172.16.0.1', '127.0.0.1']],
    ['0.0.0.0/0', ['127.0.0.1', '10.0.0.1', '::ffff:10.0.0.1'], ['::1', 'fd00::1']],
    ['::/0', ['::1', 'fd00::1', 'fe80::1'], ['127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::10.0.0.1']],
    ['64:ff9b::/96', [], ['64:ff9b::10.0.0.1']],
    ['2002::/16', [], ['2002:7f00:1::']],
    ['64:ff9b:1::/48', ['64:ff9b:1::1'], []],
  ]
  for (const [cidr, passes, denied] of cases) {
    const { isDenied } = createIpFilter([cidr])
    for (const text of passes) assert.equal(isDenied(text), false, `${cidr} ${text}`)
    for (const text of denied) assert.equal(isDenied(text), true, `${cidr} ${text}`)
  }
})

test('a filter is known by its key', () => {
  for (const cidrs of [[], ['10.0.0.0/8'], ['10.0.0.0/8', '::1']]) {
    const again = ipFilterOf(createIpFilter(cidrs).key)
    for (const host of ['10.1.2.3', '::1', '127.0.0.1', '8.8.8.8']) {
      assert.equal(again.isDenied(host), createIpFilter(cidrs).isDenied(host), `${cidrs.join(' ')} ${host}`)
    }
  }
})

test('a range that cannot be read is refused', () => {
  for (const text of ['', 'x', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/1e1']) {
    assert.equal(parseRange(text), undefined, text)
    assert.throws(() => createIpFilter([text]), /no range/)
  }
})

function numberOf(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function dotted(ipv4: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(ipv4 / 2 ** shift) % 256).join('.')
}

function spell(ipv4: number, parts: number, radixes: number[], zeros: number): string {
  const numbers = [24, 16, 8].slice(0, parts - 1).map((shift) => Math.floor(ipv4 / 2 ** shift) % 256)
  numbers.push(ipv4 % 2 ** (8 * (5 - parts)))
  return numbers
    .map((number, index) => {
      const radix = radixes[index] as number
      const digits = number.toString(radix)
      if (radix === 10) return digits
      return `${radix === 16 ? '0x' : '0'}${'0'.repeat(zeros)}${digits}`
    })
    .join('.')
}
