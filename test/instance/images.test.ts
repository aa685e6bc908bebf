import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { deriveImage } from '../../src/instance/images/derive-images.ts'
import { DEFAULT_IMAGES } from '../../src/instance/images/image-names.ts'
import { encodePng } from '../../src/instance/images/png.ts'
import { client } from '../support/test-client.ts'
import { ENDPOINTS, eachPublicWorld, type Loose } from './public-world.ts'

const THUMBNAIL = '/api/v1/admin/instance/thumbnail'
const ICON = '/api/v1/admin/instance/icon'
const FORMATS = ['jpeg', 'png', 'gif', 'webp'] as const

type Format = (typeof FORMATS)[number]

function picture(format: Format, colour: string, width = 300, height = 200, channels: 3 | 4 = 3): Promise<Buffer> {
  // Opened before the server's own part, which leaves the library with four formats.
  return sharp({ create: { width, height, channels, background: colour } })
    .toFormat(format)
    .toBuffer()
}

/** A picture that claims to be huge; its data is a kilobyte of nothing. */
function bomb(width: number, height: number): Buffer {
  const small = encodePng({ width: 1, height: 1, pixels: new Uint8Array(1), palette: [0] })
  const claimed = Buffer.from(small)
  claimed.writeUInt32BE(width, 16)
  claimed.writeUInt32BE(height, 20)
  // The checksum of the header follows it.
  const header = claimed.subarray(12, 29)
  claimed.writeUInt32BE(crcOf(header), 29)
  return Buffer.concat([claimed, deflateSync(Buffer.alloc(1_000_000))])
}

function crcOf(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

const BAD: Record<string, () => Promise<Buffer> | Buffer> = {
  text: () => Buffer.from('no picture at all'),
  'an SVG': () =>
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'),
  'a picture that ends too early': async () => (await picture('png', '#336699')).subarray(0, 100),
  'too many pixels': () => bomb(60_000, 60_000),
  'a side that is too long': () => bomb(20_000, 10),
  'more pixels than fit': () => bomb(16_000, 16_000),
  'no pixels': () => bomb(0, 0),
}

eachPublicWorld('pictures of the instance', (world) => {
  const shown = async () => {
    const { thumbnail, icon } = (await world().get(ENDPOINTS.v2)).body
    return { thumbnail, icon }
  }
  const fetchFile = async (url: string, init?: RequestInit) =>
    fetch(url.replace('//localhost:', '//127.0.0.1:'), { redirect: 'manual', ...init })
  const put = (path: string, bytes: Buffer, type: string, status = 200) =>
    world().admin.put(path, status, { body: bytes, headers: { 'content-type': type } })

  test('a picture of each format becomes all sizes, a blurhash and addresses that change with it', async () => {
    const seen = new Set<string>()
    for (const format of FORMATS) {
      const colour = { jpeg: '#cc2244', png: '#22cc44', gif: '#4422cc', webp: '#cccc22' }[format]
      const answer = await put(
        `${THUMBNAIL}?description=A%20%3Cview%3E`,
        await picture(format, colour),
        `image/${format}`,
      )
      const { thumbnail } = await shown()
      assert.deepEqual(answer.body, thumbnail)
      assert.equal(thumbnail.description, 'A <view>')
      assert.match(thumbnail.blurhash, /^U.{35}$/)
      assert.equal((await world().get(ENDPOINTS.v1)).body.thumbnail, thumbnail.url)
      for (const [version, size] of [
        ['@1x', '1200x630'],
        ['@2x', '2400x1260'],
      ] as const) {
        const file = await fetchFile(thumbnail.versions[version])
        assert.match(file.headers.get('content-type') ?? '', /^image\/(jpeg|png)$/)
        assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
        assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
        const { width, height } = await sharp(Buffer.from(await file.arrayBuffer())).metadata()
        assert.equal(`${width}x${height}`, size)
        seen.add(thumbnail.versions[version])
      }
    }
    assert.equal(seen.size, 8)
  })

  test('an icon becomes nine squares, and keeps what is seen through', async () => {
    const answer = await put(ICON, await picture('png', '#00000000', 400, 300, 4), 'image/png')
    const { icon } = await shown()
    assert.deepEqual(answer.body, icon)
    assert.equal(icon.length, 9)
    for (const { src, size } of icon as Loose[]) {
      const file = await fetchFile(src)
      assert.equal(file.headers.get('content-type'), 'image/png')
      const { width, height, hasAlpha } = await sharp(Buffer.from(await file.arrayBuffer())).metadata()
      assert.deepEqual([`${width}x${height}`, hasAlpha], [size, true])
    }
  })

  test('a form with a file is taken, too', async () => {
    const form = new FormData()
    form.append('description', 'From a form')
    form.append('image', new Blob([Uint8Array.from(await picture('png', '#123456'))], { type: 'image/png' }), 'a.png')
    const response = await fetch(world().server.url + THUMBNAIL, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world().server.adminToken}` },
      body: form,
    })
    assert.equal(response.status, 200)
    assert.equal((await shown()).thumbnail.description, 'From a form')
  })

  test('a form of very many parts, or of very long names, is refused before it is read', async () => {
    const part = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\n\r\n\r\n`
    for (const [parts, code] of [
      [part('a').repeat(21), 'ERR_TOO_MANY'],
      [part('a'.repeat(9_000)), 'ERR_TOO_LONG'],
    ] as const) {
      const form = Buffer.from(`${parts}--b--\r\n`)
      const { body } = await put(THUMBNAIL, form, 'multipart/form-data; boundary="b"', 422)
      assert.equal(body.details.base[0].error, code)
    }
    for (const type of ['', '; boundary=""', '; boundary=a, multipart/form-data; boundary=b']) {
      await put(THUMBNAIL, Buffer.from('--b--'), `multipart/form-data${type}`, 400)
    }
  })

  test('a picture that a caller has is not sent again; its tag is its name, which changes with its bytes', async () => {
    for (const src of [(await shown()).thumbnail.url, (await shown()).icon[0].src]) {
      const etag = (await fetchFile(src)).headers.get('etag') as string
      assert.equal(etag, `W/"${src.slice(src.lastIndexOf('/') + 1)}"`)
      const known = await fetchFile(src, { headers: { 'if-none-match': etag } })
      assert.deepEqual([known.status, known.headers.get('etag'), (await known.bytes()).length], [304, etag, 0])
      assert.equal((await fetchFile(src, { headers: { 'if-none-match': '"x"' } })).status, 200)
    }
  })

  test('the address of a picture that was replaced leads to the one in its place', async () => {
    const before = (await shown()).thumbnail
    await put(THUMBNAIL, await picture('png', '#ff8800'), 'image/png')
    const after = (await shown()).thumbnail
    assert.notEqual(after.url, before.url)
    // What this process still has in memory may be answered as it was.
    const old = before.url.replace(/[0-9a-f]{32}/, '0'.repeat(32))
    const answer = await fetchFile(old)
    assert.equal(answer.status, 302)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(answer.headers.get('location'), new URL(after.url).pathname)
    for (const wrong of ['nothing.png', 'thumbnail-1x1-x.png', `icon-37x37-${'0'.repeat(32)}.png`, '%2e%2e%2f']) {
      assert.equal((await fetchFile(`${world().server.url}/media/instance/${wrong}`)).status, 404, wrong)
    }
  })

  test('deleting returns to the shipped picture, also twice, and whatever type a client sends with everything', async () => {
    for (const path of [THUMBNAIL, ICON]) {
      for (const headers of [undefined, { 'content-type': 'application/json' }]) {
        assert.deepEqual((await world().admin.delete(path, 200, { headers })).body, {})
      }
    }
    const { thumbnail, icon } = await shown()
    assert.equal(thumbnail.blurhash, DEFAULT_IMAGES.thumbnail.blurhash)
    assert.ok(icon[0].src.endsWith(DEFAULT_IMAGES.icon.files['36x36'] as string))
  })

  test('what is no bearable picture is refused with the reason, and nothing changes', async () => {
    await put(THUMBNAIL, await picture('png', '#abcdef'), 'image/png')
    const before = await shown()
    for (const [what, make] of Object.entries(BAD)) {
      for (const path of [THUMBNAIL, ICON]) {
        const { body } = await put(path, await make(), 'image/png', 422)
        assert.match(body.error, /^Validation failed: image /, what)
        assert.equal(body.details.image[0].error, 'ERR_IMAGE', what)
      }
    }
    assert.deepEqual(await shown(), before)
    const empty = await world().admin.put(THUMBNAIL, 422, { headers: { 'content-type': 'image/png' } })
    assert.deepEqual(Object.keys(empty.body.details), ['image'])
    const long = `${THUMBNAIL}?description=${'x'.repeat(201)}`
    assert.deepEqual(Object.keys((await put(long, await picture('png', '#abcdef'), 'image/png', 422)).body.details), [
      'description',
    ])
    await put(THUMBNAIL, Buffer.from('{}'), 'application/json', 415)
    await put(THUMBNAIL, Buffer.from('x'), 'image/svg+xml', 415)
    const packed = { 'content-type': 'image/png', 'content-encoding': 'gzip' }
    await world().admin.put(THUMBNAIL, 415, { body: Buffer.from('x'), headers: packed })
    await put(THUMBNAIL, Buffer.from('x'), 'multipart/form-data', 400)
    await put(THUMBNAIL, Buffer.alloc(11_000_000), 'image/png', 413)
    assert.deepEqual(await shown(), before)
  })

  test('administrators only, and every change is written down', async () => {
    const ordinary = await world().callers.make({ roles: ['standard'] })
    const bytes = await picture('png', '#010203')
    for (const path of [THUMBNAIL, ICON]) {
      for (const method of ['PUT', 'DELETE']) {
        const options = method === 'PUT' ? { body: bytes, headers: { 'content-type': 'image/png' } } : {}
        const refused = await ordinary.client.call(method, path, 403, options)
        assert.deepEqual(refused.body, { error: 'This action is not allowed' })
        const stranger = await client(world().server, 'none').call(method, path, 401, options)
        assert.deepEqual(stranger.body, { error: 'The access token is invalid' })
      }
    }
    const events = await world()
      .callers.db.query.selectFrom('audit_events')
      .select(['action', 'target_id'])
      .where('target_type', '=', 'instance_images')
      .execute()
    assert.ok(events.some(({ action, target_id }) => action === 'instance_image.replaced' && target_id === 'thumbnail'))
    assert.ok(events.some(({ action, target_id }) => action === 'instance_image.deleted' && target_id === 'icon'))
  })
})

test('a photograph that was taken with the camera turned is upright', async () => {
  const tall = await sharp({ create: { width: 20, height: 40, channels: 3, background: '#ff0000' } })
    .composite([{ input: { create: { width: 20, height: 20, channels: 3, background: '#0000ff' } }, top: 0, left: 0 }])
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const { files } = await deriveImage('icon', tall)
  const { data, info } = await sharp(files[8]?.bytes).raw().toBuffer({ resolveWithObject: true })
  const middle = (info.height / 2) * info.width * info.channels
  const right = middle + (info.width - 5) * info.channels
  assert.ok((data[right + 2] as number) > 200, 'blue was above and is on the right after a quarter turn')
})
