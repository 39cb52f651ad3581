import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Conversation, Session, SessionList } from '../../server/src/automation/schema'
import { checkedFetch, json, openAnswer } from './api'

/** Query key prefix of all stored conversations. */
export const talksKey = ['talks'] as const

/** A conversation stored by the service. */
export type Talk = ReturnType<(typeof Session)['parse']>
type TalkList = ReturnType<(typeof SessionList)['parse']>
type Said = ReturnType<(typeof Conversation)['parse']>

const path = (id: string) => `/api/automation/sessions/${encodeURIComponent(id)}`

/** Calls a conversation endpoint. Rejects with `ApiError`. Source: contract 8.1. */
async function ask<Answer>(target: string, method = 'GET', body?: object): Promise<Answer> {
  const response = await checkedFetch(target, { method, ...(body && json(body).init) })
  return response.json()
}

/** Timeout of a model response, which the user can also stop. */
const answerLimitMs = 10 * 60_000

interface Message {
  content: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

export type TalkType = Talk['sessionType']

interface Beginning {
  modelId?: string | undefined
  systemPrompt?: string
  name?: string | undefined
  templateId?: string
  variables?: Readonly<Record<string, string>>
  sessionType?: TalkType
  /** Required for every type except `chat`. */
  gatewayId?: string
  /** The only tools the session may use; all tools of its gateway when absent. */
  enabledTools?: readonly string[]
}

interface Changes {
  name?: string | null
  modelId?: string
  systemPrompt?: string | null
  status?: 'active' | 'paused' | 'cancelled'
}

export const talks = {
  begin: (fields: Beginning) => ask<Talk>('/api/automation/sessions', 'POST', fields),
  change: (id: string, fields: Changes) => ask<Talk>(path(id), 'PATCH', fields),
  complete: (id: string) => ask<Talk>(`${path(id)}/complete`, 'POST', {}),
  delete: (id: string) => ask(path(id), 'DELETE'),
  /** Sends a message and returns the response as server-sent events once it has started. */
  say: (id: string, message: Message, signal: AbortSignal) => {
    const { init } = json({ ...message, stream: true })
    return openAnswer(`${path(id)}/messages`, { method: 'POST', signal, ...init }, answerLimitMs)
  },
}

/** The latest conversations. */
export const talksQuery = queryOptions({
  queryKey: ['talks', 'latest'],
  queryFn: async () =>
    (await ask<TalkList>('/api/automation/sessions?status=active&limit=100')).sessions,
})

const mostLatest = 100

/** One conversation with its latest messages; `earlier` is the number of messages before them. */
export const talkQuery = (id: string) =>
  queryOptions({
    queryKey: ['talks', 'said', id],
    queryFn: async () => {
      const talk = await ask<Talk>(path(id))
      const earlier = Math.max(0, talk.messageCount - mostLatest)
      const place = `limit=${mostLatest}&offset=${earlier}`
      const { messages } = await ask<Said>(`${path(id)}/conversation?${place}`)
      return { talk, messages, earlier }
    },
  })

export const talkStatuses = ['active', 'paused', 'completed', 'cancelled', 'failed'] as const
export type TalkStatus = (typeof talkStatuses)[number]

export const talkColors = {
  active: 'green',
  paused: 'yellow',
  completed: 'blue',
  cancelled: 'gray',
  failed: 'red',
} as const satisfies Record<TalkStatus, string>

const pageSize = 50

/** All conversations, optionally of one status. */
export const allTalksQuery = (status: TalkStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: [...talksKey, 'all', status],
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({
        limit: String(pageSize),
        offset: String(pageParam),
        ...(status && { status }),
      })
      return ask<TalkList>(`/api/automation/sessions?${query}`)
    },
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { hasMore, offset } }) =>
      hasMore ? offset + pageSize : undefined,
    placeholderData: keepPreviousData,
  })

export const oneTalkQuery = (id: string) =>
  queryOptions({ queryKey: [...talksKey, 'one', id], queryFn: () => ask<Talk>(path(id)) })

/** The messages of one conversation, oldest first. */
export const saidQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...talksKey, 'messages', id],
    queryFn: ({ pageParam }) =>
      ask<Said>(`${path(id)}/conversation?limit=${pageSize}&offset=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { hasMore, offset } }) =>
      hasMore ? offset + pageSize : undefined,
  })

export type SaidMessage = Said['messages'][number]
