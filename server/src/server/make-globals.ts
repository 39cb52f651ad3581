/** The properties of `Bun` that the server uses; reading all would load a shell and a database client. */
const ofBun = [
  'CryptoHasher',
  'connect',
  'deepEquals',
  'file',
  'hash',
  'listen',
  'password',
  'serve',
  'sleep',
  'spawn',
  'which',
  'write',
] as const satisfies readonly (keyof typeof Bun)[]

/**
 * Reads each global once. The engine creates a global when it is first read, which changes its object and discards
 * compiled functions that read another: the first 200,000 requests would cost some 4 µs more each. Takes 1 to 4 ms.
 */
export function makeGlobals(): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) Reflect.get(globalThis, name)
  for (const name of ofBun) Reflect.get(Bun, name)
}
