import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, openAnswer, type Schemas } from '../../api/client'
import { mayAppear, retrySoon } from '../../api/polling'

/** Query key prefix of all stored conversations. */
export const chatsKey = ['chats'] as const

/** A conversation stored by the service. */
export type Chat = Schemas['AutomationSession']

/** Timeout of a model response, which the user can also stop. */
const answerLimitMs = 10 * 60_000

interface Message {
  content: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

export type ChatType = Chat['sessionType']

const session = (id: string) => ({ path: { id } })

/** Changes to conversations. Source: contract 8.1. */
export const chats = {
  begin: (body: Schemas['NewAutomationSession']) =>
    bodyOf(api.POST('/api/automation/sessions', { body })),
  change: (id: string, body: Schemas['ChangedAutomationSession']) =>
    bodyOf(api.PATCH('/api/automation/sessions/{id}', { params: session(id), body })),
  complete: (id: string) =>
    bodyOf(api.POST('/api/automation/sessions/{id}/complete', { params: session(id), body: {} })),
  delete: (id: string) => api.DELETE('/api/automation/sessions/{id}', { params: session(id) }),
  /** Sends a message and returns the response as server-sent events once it has started. */
  sendMessage: (id: string, message: Message, signal: AbortSignal) =>
    openAnswer(
      `/api/automation/sessions/${encodeURIComponent(id)}/messages`,
      {
        method: 'POST',
        signal,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...message, stream: true }),
      },
      answerLimitMs,
    ),
}

const chatPage = (status: ChatStatus | undefined, limit: number, offset = 0) =>
  bodyOf(
    api.GET('/api/automation/sessions', {
      params: { query: { status, limit: limit, offset: offset } },
    }),
  )

const messagePage = (id: string, limit: number, offset: number) =>
  bodyOf(
    api.GET('/api/automation/sessions/{id}/conversation', {
      params: { ...session(id), query: { limit: limit, offset: offset } },
    }),
  )

const oneChat = (id: string) =>
  bodyOf(api.GET('/api/automation/sessions/{id}', { params: session(id) }))

const maxLatest = 100

/** The latest conversations. */
export const chatsQuery = queryOptions({
  queryKey: ['chats', 'latest'],
  queryFn: async () => (await chatPage('active', maxLatest)).sessions,
})

/** One conversation with its latest messages; `earlier` is the number of messages before them. */
export const chatQuery = (id: string) =>
  queryOptions({
    queryKey: ['chats', 'said', id],
    queryFn: async () => {
      const chat = await oneChat(id)
      const earlierCount = Math.max(0, chat.messageCount - maxLatest)
      const { messages } = await messagePage(id, maxLatest, earlierCount)
      return { chat, messages, earlierCount }
    },
  })

export const chatStatuses = ['active', 'paused', 'completed', 'cancelled', 'failed'] as const
export type ChatStatus = (typeof chatStatuses)[number]

export const chatColors = {
  active: 'green',
  paused: 'yellow',
  completed: 'blue',
  cancelled: 'gray',
  failed: 'red',
} as const satisfies Record<ChatStatus, string>

const pageSize = 50

/** All conversations, optionally of one status. */
export const allChatsQuery = (status: ChatStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: [...chatsKey, 'all', status],
    queryFn: ({ pageParam }) => chatPage(status, pageSize, pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { hasMore, offset } }) =>
      hasMore ? offset + pageSize : undefined,
    placeholderData: keepPreviousData,
  })

export const oneChatQuery = (id: string) =>
  queryOptions({ queryKey: [...chatsKey, 'one', id], queryFn: () => oneChat(id) })

/** The messages of one conversation, oldest first. */
export const messagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...chatsKey, 'messages', id],
    queryFn: ({ pageParam }) => messagePage(id, pageSize, pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { hasMore, offset } }) =>
      hasMore ? offset + pageSize : undefined,
  })

export type ChatMessage = Schemas['AutomationMessage']

/** The log of a request. It is written a moment after the response; a page that stays open asks until it is there. */
export const logQuery = (id: string) =>
  queryOptions({
    queryKey: ['log', id],
    queryFn: () => bodyOf(api.GET('/api/account/request-logs/{id}', { params: { path: { id } } })),
    retry: mayAppear,
    retryDelay: retrySoon,
    staleTime: Infinity,
  })
