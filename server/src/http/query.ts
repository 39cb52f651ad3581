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

/**
 * Creates the search parameter of a list, described by `about`. It ignores surrounding white space and all characters
 * beyond the limit; as it accepts longer texts, its schema has no maximum length.
 */
export const searchText = (about = 'Text to search for') =>
  z
    .string()
    .transform((text) => text.trim().slice(0, maxSearch) || undefined)
    .optional()
    .describe(`${about}; the first ${maxSearch} characters count`)
