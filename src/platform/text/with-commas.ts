/** 250,000 for 250000. `toLocaleString` would load what a language needs for numbers: 20 ms of every start, where a constant is made of it. */
export function withCommas(whole: number): string {
  return String(whole).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
