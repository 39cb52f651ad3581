import type { Attack } from './effect'

/** A customer's own provider that sends without end what serves nobody, or as much as it can. */
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

/** Asks such a provider for so many streams at the same time, again and again. */
export const streamFlood = (flood: Flood, clients = 4): Attack => ({
  name: `stream of ${flood}`,
  assault: ({ key }) => ({ body: `stream:${flood}`, clients, key }),
})

export const streamFloods = floods.map((flood) => streamFlood(flood))
