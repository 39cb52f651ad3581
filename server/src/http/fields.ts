import type { Context } from 'hono'
import { z } from 'zod'
import { readJson } from './body'
import type { Env } from './env'
import { invalidRequest } from '../errors'
import { check, type JsonObject } from '../wire/json-body'
import { isOneLine } from '../wire/one-line'

const zero = String.fromCharCode(0)

/** Returns why PostgreSQL would not store a text unchanged; JSON allows even less. */
function faultOf(text: string): string | undefined {
  if (text.includes(zero)) return 'holds a zero character'
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair'
}

/** Finds the first text, or name, that cannot be stored: its dotted path and the reason. */
function unkeptIn(value: unknown, path: string): { path: string; fault: string } | undefined {
  if (typeof value === 'string') {
    const fault = faultOf(value)
    return fault === undefined ? undefined : { path, fault }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const fault = faultOf(name)
    const found = fault ? { path, fault } : unkeptIn(inner, path ? `${path}.${name}` : name)
    if (found) return found
  }
  return undefined
}

/** Reads the body of a request. Rejects with `invalid_request`, also for texts that cannot be stored. */
async function bodyOf(c: Context<Env>): Promise<JsonObject> {
  const share = c.env.bodies.open(c.get('principal')?.accountId ?? '')
  const { body } = await readJson(c.req.raw, {
    limitBytes: c.var.bodyBytes,
    server: c.env.server,
    room: { share: () => share },
  }).finally(() => share.release())
  const unkept = unkeptIn(body, '')
  c.set('sent', body)
  if (!unkept) return body
  const { path, fault } = unkept
  throw invalidRequest(path || null, 'bad_format', `${path || 'The body'}: ${fault}.`)
}

/**
 * Reads and validates the body of a POST. Null is the same as absent, and so is a body without required fields.
 * Rejects with `invalid_request`.
 */
export async function readNewFields<Schema extends z.ZodType>(
  c: Context<Env>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const none = c.req.raw.body === null ? schema.safeParse({}) : undefined
  if (none?.success) return none.data
  const body = await bodyOf(c)
  const present: JsonObject = {}
  for (const [name, value] of Object.entries(body)) if (value !== null) present[name] = value
  return check(schema, present)
}

/** Reads the body of a PUT: any subset of the fields, at least one. Rejects with `invalid_request`. */
export async function readChangedFields<Schema extends z.ZodObject>(
  c: Context<Env>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const body = await bodyOf(c)
  const known = Object.keys(body).some((name) => Object.hasOwn(schema.shape, name))
  if (!known) throw invalidRequest(null, 'empty', 'Send at least one field to change.')
  return check(schema, body)
}

/** A text without surrounding white space, measured in characters. */
export const trimmed = (most: number, least = 1) => z.string().trim().min(least).max(most)

/** A name: one such line, without control characters. */
export const line = (most: number, least = 1) =>
  trimmed(most, least).refine(isOneLine, {
    params: { issue: 'bad_format' },
    message: 'must be one line, without control characters.',
  })

/** Any ISO 8601 time with zone, or a date, which means its midnight in UTC. */
export const timestamp = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => new Date(text))

/** Formats a time of an answer: ISO 8601 in UTC with milliseconds. */
export const toTimestamp = (date: Date) => date.toISOString()

/** Keeps the fields that were sent, including null: absent fields stay unchanged. */
export const present = <Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } => {
  const sent = { ...fields }
  for (const name in sent) if (sent[name] === undefined) delete sent[name]
  return sent
}
