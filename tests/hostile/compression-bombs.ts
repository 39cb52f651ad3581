import type { Attack } from './effect'

const bombs = ['stream:gzip-blank-lines', 'stream:gzip-comments', 'whole:gzip-whole'] as const

export type Bomb = (typeof bombs)[number]

/** A customer's own provider whose answers are a thousand times as long as what it sends. */
export const compressionBomb = (bomb: Bomb, clients = 4): Attack => ({
  name: `compression bomb ${bomb}`,
  assault: ({ key }) => ({ body: bomb, clients, key }),
})

export const compressionBombs = bombs.map((bomb) => compressionBomb(bomb))
