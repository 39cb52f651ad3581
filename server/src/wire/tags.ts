import { z } from 'zod'
import { invalidRequest } from '../errors'

/** The most tags of a key, and the most that a request adds to them. */
export const maxTags = 10
const maxLength = 64

/** Words of letters, digits and some signs; a comma separates tags, and needs no escape where they are stored. */
const tagForm = /^[\w.:/@+=#-]+(?: [\w.:/@+=#-]+)*$/
const rule = `a tag has 1 to ${maxLength} characters: ASCII letters and digits, _ . : / @ + = # - and single spaces between words.`

/** Returns tags in their order, each once. */
export const toTagSet = (tags: readonly string[]): string[] => [...new Set(tags)].toSorted()

const Tag = z
  .string()
  .max(maxLength)
  .regex(tagForm, { error: `must be a tag: ${rule}` })

/** The tags of a key. */
export const TagList = z.array(Tag).max(maxTags).transform(toTagSet)

/** Splits tags that are separated by commas. */
export const splitTags = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** A filter by tags, separated by commas, all of which a request must have. */
export const TagFilter = z
  .string()
  .max(300)
  .regex(/[^\s,]/, { error: 'must be a tag.' })

/**
 * Reads tags that are separated by commas; undefined for none. Throws `invalid_request` naming the field, which is a header
 * or a field of the body.
 */
export function readTags(text: string, field: string): string[] | undefined {
  const tags = splitTags(text)
  if (tags.length > maxTags) {
    throw invalidRequest(field, 'too_many', `${field}: has more than ${maxTags} tags.`)
  }
  for (const tag of tags) {
    if (tag.length > maxLength) throw invalidRequest(field, 'too_long', `${field}: ${rule}`)
    if (!tagForm.test(tag)) throw invalidRequest(field, 'bad_format', `${field}: ${rule}`)
  }
  return tags.length === 0 ? undefined : tags
}

/** Writes tags as a literal of `text[]`, which needs quotes for no tag but one named null. */
export const toTagLiteral = (tags: readonly string[]): string =>
  `{${tags.map((tag) => (/^null$/i.test(tag) ? `"${tag}"` : tag)).join(',')}}`
