/** The middle of a name as stars: whoever knows the domain recognises it, others do not learn it. Dots stay. */
export function obfuscateDomain(domain: string): string {
  const visible = Math.floor(domain.length / 4)
  let shown = ''
  for (let i = 0; i < domain.length; i++) {
    const char = domain[i] as string
    shown += visible < i && i < domain.length - visible && char !== '.' ? '*' : char
  }
  return shown
}
