import { anthropicCallIds } from '../../wire/anthropic-format'

const prefix = 'toolu_b64_'

/**
 * The id of a call as this format has it. One with other signs, such as `functions.look:0`, is written
 * in an alphabet that fits: its provider wants it back as it was.
 */
export const toCallId = (id: string): string =>
  anthropicCallIds.test(id) && !id.startsWith(prefix)
    ? id
    : `${prefix}${Buffer.from(id, 'utf8').toString('base64url')}`

/** The id that a call had at its provider. */
export const fromCallId = (id: string): string =>
  id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8') : id
