import { z } from 'zod'

/** A query parameter that is a boolean. Its text is checked; its description in OpenAPI has the type that it means. */
export const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined })

/** A query parameter that `true` switches on; any other value leaves it off, as clients of `/v1` expect. */
export const lenientFlag = z
  .string()
  .transform((text) => text === 'true')
  .default(false)
  .meta({ type: 'boolean' })

/** The longest text that a search uses. */
const maxSearch = 100

/** The search parameter of a list: surrounding white space, and what is beyond the limit, is ignored. */
export const searchText = z
  .string()
  .transform((text) => text.trim().slice(0, maxSearch) || undefined)
  .optional()
  .describe(`Text to search for; the first ${maxSearch} characters count`)
