import { queryOptions } from '@tanstack/react-query'
import type { Conversation, Session, SessionList } from '../../server/src/automation/schema'
import { checkedFetch, json } from './api'

/** A conversation that the service keeps. */
export type Talk = ReturnType<(typeof Session)['parse']>
type TalkList = ReturnType<(typeof SessionList)['parse']>
type Said = ReturnType<(typeof Conversation)['parse']>

const path = (id: string) => `/api/automation/sessions/${encodeURIComponent(id)}`

/** Calls an endpoint of conversations. Rejects with `ApiError`. Source: api.md 17. */
async function ask<Answer>(target: string, method = 'GET', body?: object): Promise<Answer> {
  const response = await checkedFetch(target, { method, ...(body && json(body).init) })
  return response.json()
}

/** An answer may take its time; it can be stopped. */
const answerLimitMs = 10 * 60_000

interface Message {
  content: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

export const talks = {
  begin: (fields: { modelId: string; systemPrompt?: string; name: string }) =>
    ask<Talk>('/api/automation/sessions', 'POST', fields),
  change: (id: string, fields: { modelId?: string; systemPrompt?: string | null }) =>
    ask<Talk>(path(id), 'PATCH', fields),
  delete: (id: string) => ask(path(id), 'DELETE'),
  /** The answer as server-sent events, once it has begun. */
  say: (id: string, message: Message, signal: AbortSignal) => {
    const { init } = json({ ...message, stream: true })
    return checkedFetch(`${path(id)}/messages`, { method: 'POST', signal, ...init }, answerLimitMs)
  },
}

/** The latest conversations. */
export const talksQuery = queryOptions({
  queryKey: ['talks'],
  queryFn: async () =>
    (await ask<TalkList>('/api/automation/sessions?sessionType=chat&status=active&limit=100'))
      .sessions,
})

/** One of them with what was said in it: its first hundred messages. */
export const talkQuery = (id: string) =>
  queryOptions({
    queryKey: ['talks', id],
    queryFn: async () => {
      const [talk, { messages }] = await Promise.all([
        ask<Talk>(path(id)),
        ask<Said>(`${path(id)}/conversation?limit=100`),
      ])
      return { talk, messages }
    },
  })
