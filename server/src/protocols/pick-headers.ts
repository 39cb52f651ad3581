/** Returns those of the headers that a request has, without empty ones. */
export const pickHeaders = (headers: Headers, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name)
      return value ? [[name, value]] : []
    }),
  )
