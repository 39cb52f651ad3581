import { writtenFor, type Dialect } from './conformance-table'
import { ApiError } from '../errors'
import { CallerChat } from '../wire/chat-request'
import { check, type JsonObject } from '../wire/json-body'

/** A field that OpenAI's newest SDK can send in a chat request. */
export interface Parameter {
  /** Where it is not on the request itself: a request with it, beside `model`. */
  chat: JsonObject
  /** The same without it. */
  without?: JsonObject
  /** What a refusal names in its place. */
  refusedAs?: string
  /** Why nothing of it arrives, where nobody is told. */
  why?: string
}

/** `silent`: it does not arrive, and no header of the answer says so. */
export type Fate = 'yes' | 'refused' | 'named' | 'silent'

type Asked = Omit<Dialect, 'voice'>

const plain = { model: 'a/b', messages: [{ role: 'user', content: 'Hello' }] }

/** What becomes of a field on its way to the provider. Throws what is no refusal of it. */
export function fateOf(dialect: Asked, name: string, parameter: Parameter): Fate {
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

function written(dialect: Asked, fields: JsonObject) {
  const chat = { ...plain, ...fields }
  check(CallerChat, chat)
  return writtenFor(dialect, chat)
}

const isRefusalOf = (thrown: unknown, field: string): boolean =>
  thrown instanceof ApiError &&
  thrown.code === 'invalid_request' &&
  (thrown.param === field || thrown.param?.startsWith(`${field}.`) === true)
