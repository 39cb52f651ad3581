import type { Attack } from './effect'

const bombs = ['stream:gzip-blank-lines', 'stream:gzip-comments', 'whole:gzip-whole'] as const

export type Bomb = (typeof bombs)[number]

/** An attack by a customer's own provider whose answers decompress to a thousand times their size. */
export const compressionBomb = (bomb: Bomb, clients = 4): Attack => ({
  name: `compression bomb ${bomb}`,
  assault: ({ key }) => ({ body: bomb, clients, key }),
})

export const compressionBombs = bombs.map((bomb) => compressionBomb(bomb))
