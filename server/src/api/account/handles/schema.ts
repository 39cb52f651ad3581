import { z } from 'zod'
import { publicName } from '../../../http/public-name'

/** A new handle. Source: contract 6.6. */
export const NewHandle = z.object({ handle: publicName }).meta({ ref: 'NewHandle' })

export const Handle = z
  .object({
    handle: z.string().nullable(),
    model_prefix: z
      .string()
      .nullable()
      .describe('A prefix of `<provider>/<model>` that selects your own connections only'),
    updated_at: z.iso.datetime().nullable(),
    can_change_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'Handle' })
