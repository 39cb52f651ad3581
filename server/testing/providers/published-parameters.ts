import { writtenFor, type ConformanceDialect } from '../conformance/table'
import { ApiError } from '../../src/errors'
import { CallerChat } from '../../src/wire/chat-request'
import { check, type JsonObject } from '../../src/wire/json-body'

/** A field that OpenAI's newest SDK can send in a chat request. */
export interface Parameter {
  /** A request with the field, beside `model`, where it is not on the request itself. */
  chat: JsonObject
  /** The request without the field. */
  without?: JsonObject
  /** The name that a refusal gives in its place. */
  refusedAs?: string
  /** The reason why it is left out, where no header names it. */
  why?: string
}

/** `silent`: it does not arrive, and no header of the answer says so. */
export type Fate = 'yes' | 'refused' | 'named' | 'silent'

type DialectUnderTest = Omit<ConformanceDialect, 'voice'>

const plain = { model: 'a/b', messages: [{ role: 'user', content: 'Hello' }] }

/** Returns the outcome of a field on its way to the provider. Throws any error that is no refusal of it. */
export function fateOf(dialect: DialectUnderTest, name: string, parameter: Parameter): Fate {
  const { chat, without = {}, refusedAs = name } = parameter
  try {
    const { body, omitted } = written(dialect, chat)
    if (omitted?.includes(name)) return 'named'
    const other = written(dialect, without).body
    return JSON.stringify(body) === JSON.stringify(other) ? 'silent' : 'yes'
  } catch (thrown) {
    if (isRefusalOf(thrown, refusedAs)) return 'refused'
    throw thrown
  }
}

function written(dialect: DialectUnderTest, fields: JsonObject) {
  const chat = { ...plain, ...fields }
  check(CallerChat, chat)
  return writtenFor(dialect, chat)
}

const isRefusalOf = (thrown: unknown, field: string): boolean =>
  thrown instanceof ApiError &&
  thrown.code === 'invalid_request' &&
  (thrown.param === field || thrown.param?.startsWith(`${field}.`) === true)
