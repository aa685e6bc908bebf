/** A password as it is hashed, and so as it is judged: the same keys give the same bytes on every keyboard and system. */
export function passwordText(password: string): string {
  return password.normalize('NFKC')
}
