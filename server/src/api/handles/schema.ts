import { z } from 'zod'

/** Letters, digits and single hyphens, a letter first. Source: api.md 6.3. */
const shape = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

export const NewHandle = z.object({
  handle: z
    .string()
    .refine((handle) => handle.length >= 3 && handle.length <= 30 && shape.test(handle), {
      params: { issue: 'bad_format' },
      message: 'must be 3 to 30 of a-z, 0-9 and single hyphens, with a letter first.',
    }),
})

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
