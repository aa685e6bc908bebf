/** The same object with one of its members replaced: what fails, or waits, as no test could make the real one do. */
export function withMember<T extends object, Name extends keyof T>(object: T, name: Name, member: T[Name]): T {
  return new Proxy(object, {
    get(_object, asked) {
      const found: unknown = asked === name ? member : Reflect.get(object, asked, object)
      return typeof found === 'function' ? found.bind(object) : found
    },
  })
}
