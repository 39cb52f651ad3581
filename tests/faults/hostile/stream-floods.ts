import type { Attack } from './effect'

/** Floods by a customer's own provider: endless useless events, or as many bytes as possible. */
const floods = [
  'comments',
  'short-comments',
  'blank-lines',
  'unknown-lines',
  'empty-events',
  'events-without-content',
  'tiny-chunks',
  'valid-chunks',
  'many-objects-event',
] as const

export type Flood = (typeof floods)[number]

/** An attack by concurrent streams of such a provider, repeated. */
export const streamFlood = (flood: Flood, clients = 4): Attack => ({
  name: `stream of ${flood}`,
  assault: ({ key }) => ({ body: `stream:${flood}`, clients, key }),
})

export const streamFloods = floods.map((flood) => streamFlood(flood))
