import { z } from 'zod'
import { accountRoute, Done } from '../../../http/documentation'
import { Key, NewKey } from '../../../keys/schema'

const tag = 'Keys'

const secret = z.string().describe('The secret: in this answer, and never again.')

const KeyList = z.object({ keys: z.array(Key) }).meta({ ref: 'KeyList' })

const MadeKey = Key.extend({ key: secret, message: z.string() }).meta({ ref: 'MadeKey' })

const RotatedKey = z
  .object({
    id: z.string(),
    key: secret,
    key_prefix: z.string(),
    rotated_at: z.iso.datetime(),
  })
  .meta({ ref: 'RotatedKey' })

export const listKeys = accountRoute({
  operationId: 'listKeys',
  summary: 'Your keys, expired ones included',
  tag,
  answer: KeyList,
})

export const createKey = accountRoute({
  operationId: 'createKey',
  summary: 'Make a key that may do no more than the one that asks',
  tag,
  status: 201,
  body: [
    'NewKey',
    NewKey,
    {
      'For one service': { name: 'Search', permissions: ['write'], monthly_spend_limit: 25 },
      'For a week': { name: 'Trial', expires_in_days: 7 },
    },
  ],
  answer: MadeKey,
})

export const deleteKey = accountRoute({
  operationId: 'deleteKey',
  summary: 'Delete a key, which stops at once',
  tag,
  path: ['id'],
  answer: Done,
})

export const rotateKey = accountRoute({
  operationId: 'rotateKey',
  summary: 'Give a key another secret; the old one stops at once',
  tag,
  path: ['id'],
  answer: RotatedKey,
})
