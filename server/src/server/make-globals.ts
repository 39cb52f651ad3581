/** What the server takes of `Bun`; all that is there would load a shell and the client of a database. */
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
 * Reads each global once. The engine makes one when it is first read, which changes the object that has it, and
 * with that throws away what it compiled of functions that read another: the first 200,000 requests cost some 4 µs
 * more each. Takes 1 to 4 ms.
 */
export function makeGlobals(): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) Reflect.get(globalThis, name)
  for (const name of ofBun) Reflect.get(Bun, name)
}
