import type { Attack } from './effect'

/** Many bodies at once, each so slow that it never comes to its end by itself. */
export const slowBody = (body: string, clients: number, bytesPerSecond: number): Attack => ({
  name: `${clients} bodies of ${body} at ${bytesPerSecond} bytes a second`,
  assault: ({ key }) => ({ body, clients, bytesPerSecond, key }),
})

export const slowBodies = [slowBody('plain', 200, 20), slowBody('long-text', 100, 2000)]
