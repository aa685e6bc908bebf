/** As it stands in an address: `127.0.0.1:4040`, `[::1]:4040`. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
