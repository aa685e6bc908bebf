/** Pieces of a WebAssembly module that is written by hand. */

export function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

/** Where a load or store reaches to. Alignment is a hint; 1 byte is always right. */
export function at(address: number): number[] {
  return [0, ...unsigned(address)]
}

export function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}

/** Of a number that is not negative. */
export function signed(value: number): number[] {
  return value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)]
}
