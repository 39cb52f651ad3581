import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { Key, PreviousSecret } from '../../../keys/schema'

const secret = z
  .string()
  .meta({ examples: ['sk-tg-...'] })
  .describe('The secret; only this response contains it')

export const CreatedKey = Key.extend({
  key: secret,
  message: z.string().meta({ examples: ['Keep this key: it is not shown again.'] }),
}).meta({ ref: 'MadeKey' })

export const RotatedKey = z
  .object({
    id: objectId('key'),
    key: secret,
    key_prefix: z.string().meta({ examples: ['sk-tg-6rHINF'] }),
    rotated_at: z.iso.datetime(),
    previous_secrets: z.array(PreviousSecret),
  })
  .meta({ ref: 'RotatedKey' })
