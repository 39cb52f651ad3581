import { z } from 'zod'

/** The answer of a DELETE, and of other actions without a result. */
export const Success = z
  .object({
    success: z.literal(true),
    message: z.string().meta({ examples: ['The object was deleted.'] }),
  })
  .meta({ ref: 'Done' })

/** An id of an object, with its prefix: `prompt_01k9z3t6c8q4v7x2m5n0p1r3s4`. Source: contract 1.3. */
export const objectId = (prefix: string) =>
  z.string().meta({ examples: [`${prefix}_01k9z3t6c8q4v7x2m5n0p1r3s4`] })
