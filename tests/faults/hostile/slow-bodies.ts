import type { Attack } from './effect'

/** An attack by many concurrent bodies, each too slow to ever complete. */
export const slowBody = (body: string, clients: number, bytesPerSecond: number): Attack => ({
  name: `${clients} bodies of ${body} at ${bytesPerSecond} bytes a second`,
  assault: ({ key }) => ({ body, clients, bytesPerSecond, key }),
})

export const slowBodies = [slowBody('plain', 200, 20), slowBody('long-text', 100, 2000)]
