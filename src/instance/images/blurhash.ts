/**
 * BlurHash: a picture as a handful of cosine waves, written in 83 characters of which each says a little. Clients draw it
 * until the picture is there. https://github.com/woltapp/blurhash describes the form.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~'
const WAVES_X = 4
const WAVES_Y = 4
const LOUDEST = 82

type Rgb = [red: number, green: number, blue: number]

/** Of 8-bit RGB pixels, row by row. A picture of some dozen pixels to a side is enough. */
export function blurhash(pixels: Uint8Array, width: number, height: number): string {
  const light = Float64Array.from(pixels, toLinear)
  const waves: Rgb[] = []
  for (let y = 0; y < WAVES_Y; y++) {
    for (let x = 0; x < WAVES_X; x++) waves.push(strengthOf(light, width, height, x, y))
  }
  const [average, ...others] = waves as [Rgb, ...Rgb[]]
  const loudest = Math.max(...others.flat().map(Math.abs))
  const scale = Math.max(0, Math.min(LOUDEST, Math.floor(loudest * 166 - 0.5)))
  return (
    base83(WAVES_X - 1 + (WAVES_Y - 1) * 9, 1) +
    base83(scale, 1) +
    base83(
      average.reduce((sum, channel) => sum * 256 + toSrgb(channel), 0),
      4,
    ) +
    others.map((wave) => base83(quantised(wave, (scale + 1) / 166), 2)).join('')
  )
}

function strengthOf(light: Float64Array, width: number, height: number, waveX: number, waveY: number): Rgb {
  const sum: Rgb = [0, 0, 0]
  for (let y = 0; y < height; y++) {
    const down = Math.cos((Math.PI * waveY * y) / height)
    for (let x = 0; x < width; x++) {
      const weight = Math.cos((Math.PI * waveX * x) / width) * down
      const at = (y * width + x) * 3
      for (let channel = 0; channel < 3; channel++) (sum[channel] as number) += weight * (light[at + channel] as number)
    }
  }
  const norm = (waveX === 0 && waveY === 0 ? 1 : 2) / (width * height)
  return sum.map((channel) => channel * norm) as Rgb
}

function quantised(wave: Rgb, loudest: number): number {
  const step = (value: number) => {
    const root = Math.sign(value) * Math.sqrt(Math.abs(value) / loudest)
    return Math.max(0, Math.min(18, Math.floor(root * 9 + 9.5)))
  }
  return wave.reduce((sum, channel) => sum * 19 + step(channel), 0)
}

function toLinear(value: number): number {
  const part = value / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

function toSrgb(light: number): number {
  const value = Math.max(0, Math.min(1, light))
  return Math.trunc((value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055) * 255 + 0.5)
}

function base83(value: number, digits: number): string {
  let text = ''
  let rest = Math.floor(value)
  for (let digit = 0; digit < digits; digit++) {
    text = (ALPHABET[rest % 83] as string) + text
    rest = Math.floor(rest / 83)
  }
  return text
}
