import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { blurhash } from './blurhash.ts'
import { drawEmblem } from './draw-emblem.ts'
import { DEFAULT_HASH, DEFAULT_IMAGES, parseFileName } from './image-names.ts'
import { encodePng } from './png.ts'

function pixels(colour: (x: number, y: number) => [number, number, number]): Uint8Array {
  const bytes = new Uint8Array(20 * 10 * 3)
  for (let y = 0; y < 10; y++) for (let x = 0; x < 20; x++) bytes.set(colour(x, y), (y * 20 + x) * 3)
  return bytes
}

describe('pictures', () => {
  // Made by the reference implementation.
  test('a blurhash is what others would make of the same pixels', () => {
    assert.equal(
      blurhash(
        pixels(() => [200, 30, 90]),
        20,
        10,
      ),
      'UIM^#v,ufQ,u|zo2fQo2fQfQfQfQ|zo2fQo2',
    )
    const corner = pixels((x, y) => (x < 5 && y < 4 ? [255, 240, 10] : [10, 20, 60]))
    assert.equal(blurhash(corner, 20, 10), 'UUATW6~N^v-+~P^]?T-j-%-%%Gxpt6s-odod')
  })

  test('the blurhash of the shipped picture is the one that is told', () => {
    const { pixels: indexes, palette, width, height } = drawEmblem(80, 42)
    const rgb = Uint8Array.from(
      [...indexes].flatMap((index) => [16, 8, 0].map((shift) => ((palette[index] as number) >> shift) & 0xff)),
    )
    assert.equal(blurhash(rgb, width, height), DEFAULT_IMAGES.thumbnail.blurhash)
  })

  test('a drawn picture is a PNG of the right size with every pixel in it', () => {
    const picture = drawEmblem(48, 36)
    const png = encodePng(picture)
    assert.equal(png.toString('latin1', 1, 4), 'PNG')
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [48, 36])
    const data = png.indexOf('IDAT') + 4
    const rows = inflateSync(png.subarray(data, data + png.readUInt32BE(data - 8)))
    for (let y = 0; y < 36; y++) {
      assert.equal(rows[y * 49], 0)
      assert.deepEqual([...rows.subarray(y * 49 + 1, (y + 1) * 49)], [...picture.pixels.subarray(y * 48, (y + 1) * 48)])
    }
  })

  test('a file name says what it names, and nothing else is one', () => {
    const name = { kind: 'icon', size: '36x36', hash: DEFAULT_HASH }
    assert.deepEqual(parseFileName(DEFAULT_IMAGES.icon.files['36x36'] as string), name)
    for (const wrong of [
      '',
      'icon',
      `icon-37x37-${DEFAULT_HASH}.png`,
      `thumbnail-36x36-${DEFAULT_HASH}.png`,
      `icon-36x36-${DEFAULT_HASH}.svg`,
    ]) {
      assert.equal(parseFileName(wrong), undefined, wrong)
    }
  })
})
