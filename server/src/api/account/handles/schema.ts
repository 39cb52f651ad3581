import { z } from 'zod'
import { publicName } from '../../../http/public-name'

/** A new handle. Source: contract 6.6. */
export const NewHandle = z.object({ handle: publicName })

export const Handle = z
  .object({
    handle: z.string().nullable(),
    model_prefix: z
      .string()
      .nullable()
      .describe('In front of `<provider>/<model>`: only your own connections are asked'),
    updated_at: z.iso.datetime().nullable(),
    can_change_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'Handle' })
