import { call, idIn } from '../../harness/byok'
import {
  sendRequest,
  sendRaw,
  toStream,
  type Answer,
  type Json,
  type Stream,
} from '../../harness/http'
import type { RawClient } from '../../harness/raw-client'
import type { Customer, Gateway } from '../../harness/server'

/** The rows of a list in an answer. */
export const rows = ({ body }: Answer, name: string): Json[] => {
  const list = body[name]
  return Array.isArray(list) ? list : []
}

/** An object in an answer. */
export function objectIn({ body, text }: Answer, name: string): Json {
  const value = body[name]
  if (typeof value !== 'object' || value === null) throw new Error(text)
  return { ...value }
}

/** One account's sessions, at one gateway. */
export interface SessionClient {
  api: (request: string, body?: Json) => Promise<Answer>
  /** Makes a session, and resolves with its id. */
  session: (fields: Json) => Promise<string>
  send: (id: string, content: string, fields?: Json) => Promise<Answer>
  stream: (id: string, content: string, fields?: Json) => Promise<Stream>
  /** A message on a connection of its own, whose answer is left to the test. */
  begin: (id: string, fields?: Json) => Promise<RawClient>
  get: (id: string) => Promise<Json>
  /** What was said, as `role: content`. */
  transcript: (id: string) => Promise<string[]>
}

const pathOf = (id: string) => `/api/automation/sessions/${id}/messages`

export function createSessionClient(gateway: Gateway, customer: Customer): SessionClient {
  const api = (request: string, body?: Json) =>
    call(gateway, customer, request.replace(' ', ' /automation'), body)
  const { key } = customer
  const send = (id: string, content: string, fields: Json = {}) =>
    sendRequest(gateway, { key, path: pathOf(id), body: { content, ...fields } })
  return {
    api,
    session: async (fields) => idIn(await api('POST /sessions', fields)),
    send,
    stream: async (id, content, fields) =>
      toStream(await send(id, content, { stream: true, ...fields })),
    begin: (id, fields) =>
      sendRaw(gateway, { key, path: pathOf(id), body: { content: 'Go on.', ...fields } }),
    get: async (id) => (await api(`GET /sessions/${id}`)).body,
    transcript: async (id) =>
      rows(await api(`GET /sessions/${id}/conversation`), 'messages').map(
        ({ role, content }) => `${String(role)}: ${String(content)}`,
      ),
  }
}
