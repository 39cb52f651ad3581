import type { Context } from 'hono'
import { z } from 'zod'
import { readJson } from './body'
import type { Env } from './env'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
import { isOneLine } from '../wire/one-line'

const zero = String.fromCharCode(0)

/** Returns why PostgreSQL would not store a text unchanged; JSON allows even less. */
function faultOf(text: string): string | undefined {
  if (text.includes(zero)) return 'contains a NUL character'
  return text.isWellFormed() ? undefined : 'contains an unpaired surrogate'
}

/** Finds the first text, or name, that cannot be stored: its dotted path and the reason. */
function findUnstorable(value: unknown, path: string): { path: string; fault: string } | undefined {
  if (typeof value === 'string') {
    const fault = faultOf(value)
    return fault === undefined ? undefined : { path, fault }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const fault = faultOf(name)
    const unstorable = fault
      ? { path, fault }
      : findUnstorable(inner, path ? `${path}.${name}` : name)
    if (unstorable) return unstorable
  }
  return undefined
}

/** Reads the body of a request. Rejects with `invalid_request`, also for texts that cannot be stored. */
async function bodyOf(c: Context<Env>): Promise<JsonObject> {
  const share = c.env.bodies.open(c.get('principal')?.accountId ?? '')
  const { body } = await readJson(c.req.raw, {
    limitBytes: c.var.bodyBytes,
    server: c.env.server,
    memory: { share: () => share },
  }).finally(() => share.release())
  const unstorable = findUnstorable(body, '')
  c.set('sent', body)
  if (!unstorable) return body
  const { path, fault } = unstorable
  throw invalidRequest(path || null, 'bad_format', `${path || 'The body'}: ${fault}.`)
}

/** Drops the fields that are null: in a new object null is the same as absent. */
export function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value
  const present: JsonObject = {}
  for (const name in value) if (value[name] !== null) present[name] = value[name]
  return present
}

/**
 * Reads the body of a request, to be checked against `schema`. In a POST null is the same as absent, and so is a body
 * without required fields; any other method needs one of the fields. Rejects with `invalid_request`.
 */
export async function readFields(c: Context<Env>, schema: z.ZodObject): Promise<unknown> {
  const isNew = c.req.method === 'POST'
  if (isNew && c.req.raw.body === null && schema.safeParse({}).success) return {}
  const body = await bodyOf(c)
  if (isNew) return withoutNulls(body)
  const hasKnownField = Object.keys(body).some((name) => Object.hasOwn(schema.shape, name))
  if (!hasKnownField) throw invalidRequest(null, 'empty', 'Send at least one field to change.')
  return body
}

/** A text without surrounding white space, measured in characters. */
export const trimmed = (max: number, min = 1) => z.string().trim().min(min).max(max)

/** A name: one such line, without control characters. */
export const line = (max: number, min = 1) =>
  trimmed(max, min).refine(isOneLine, {
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
  const sentFields = { ...fields }
  for (const name in sentFields) if (sentFields[name] === undefined) delete sentFields[name]
  return sentFields
}
