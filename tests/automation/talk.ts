import { call, idIn } from '../connections/stage'
import { ask, askRaw, toStream, type Answer, type Json, type Stream } from '../faults/asking'
import type { RawClient } from '../raw-client'
import type { Customer, Gateway } from '../rig'

/** The rows of a list in an answer. */
export const rows = ({ body }: Answer, name: string): Json[] => {
  const list = body[name]
  return Array.isArray(list) ? list : []
}

/** An object in an answer. */
export function part({ body, text }: Answer, name: string): Json {
  const value = body[name]
  if (typeof value !== 'object' || value === null) throw new Error(text)
  return { ...value }
}

/** One account's sessions, at one gateway. */
export interface Talking {
  api: (request: string, body?: Json) => Promise<Answer>
  /** Makes a session, and resolves with its id. */
  session: (fields: Json) => Promise<string>
  say: (id: string, content: string, fields?: Json) => Promise<Answer>
  stream: (id: string, content: string, fields?: Json) => Promise<Stream>
  /** A message on a connection of its own, whose answer is left to the test. */
  begin: (id: string, fields?: Json) => Promise<RawClient>
  get: (id: string) => Promise<Json>
  /** What was said, as `role: content`. */
  said: (id: string) => Promise<string[]>
}

const pathOf = (id: string) => `/api/automation/sessions/${id}/messages`

export function talking(gateway: Gateway, customer: Customer): Talking {
  const api = (request: string, body?: Json) =>
    call(gateway, customer, request.replace(' ', ' /automation'), body)
  const { key } = customer
  const say = (id: string, content: string, fields: Json = {}) =>
    ask(gateway, { key, path: pathOf(id), body: { content, ...fields } })
  return {
    api,
    session: async (fields) => idIn(await api('POST /sessions', fields)),
    say,
    stream: async (id, content, fields) =>
      toStream(await say(id, content, { stream: true, ...fields })),
    begin: (id, fields) =>
      askRaw(gateway, { key, path: pathOf(id), body: { content: 'Go on.', ...fields } }),
    get: async (id) => (await api(`GET /sessions/${id}`)).body,
    said: async (id) =>
      rows(await api(`GET /sessions/${id}/conversation`), 'messages').map(
        ({ role, content }) => `${String(role)}: ${String(content)}`,
      ),
  }
}

/** Waits until something that has to be asked for is so. */
export async function until(isSo: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not so within ${limitMs} ms`)
    // An account asks 300 times a minute.
    await Bun.sleep(100)
  }
}
